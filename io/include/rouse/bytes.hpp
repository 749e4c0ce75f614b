#pragma once
/// \file
/// Bytes as the stream calls take them: spans that remember whether they may be written to.

#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

namespace rouse {

namespace detail {

template <class T> inline constexpr bool is_byte_like =
    std::is_same_v<std::remove_const_t<T>, char> || std::is_same_v<std::remove_const_t<T>, unsigned char> ||
    std::is_same_v<std::remove_const_t<T>, std::byte>;

template <class R>
concept byte_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    is_byte_like<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <class R> inline constexpr bool is_text_array = false;
template <std::size_t N> inline constexpr bool is_text_array<const char[N]> = true;

} // namespace detail

/// Bytes to be filled. Made from lvalues (a std::string, a vector, an array) and from spans, of char,
/// unsigned char or std::byte. Does not own them.
class mutable_bytes {
 public:
  constexpr mutable_bytes() noexcept = default;
  constexpr mutable_bytes(void* data, std::size_t size) noexcept : data_(data), size_(size) {}

  template <detail::byte_range R>
  requires((std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)&&!std::is_const_v<
               std::remove_reference_t<std::ranges::range_reference_t<R>>> &&
           !std::is_same_v<std::remove_cvref_t<R>, mutable_bytes>) constexpr mutable_bytes(R&& range) noexcept
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {}

  constexpr void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes to be sent. Made from any contiguous range of char, unsigned char or std::byte; of a character
/// literal the closing NUL is left out; a char* does not convert. Does not own them.
class const_bytes {
 public:
  constexpr const_bytes() noexcept = default;
  constexpr const_bytes(const void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr const_bytes(mutable_bytes bytes) noexcept : data_(bytes.data()), size_(bytes.size()) {}

  template <detail::byte_range R>
  requires(!std::is_same_v<std::remove_cvref_t<R>, const_bytes> &&
           !std::is_same_v<std::remove_cvref_t<R>, mutable_bytes>) constexpr const_bytes(R&& range) noexcept
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {
    if constexpr (detail::is_text_array<std::remove_reference_t<R>>)
      if (size_ > 0 && std::ranges::data(range)[size_ - 1] == '\0') --size_;
  }

  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace rouse
