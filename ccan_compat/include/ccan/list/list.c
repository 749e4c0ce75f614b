/// @file
/// @brief A place for programs that include or compile ccan's `list.c`: the header holds everything.

#include <ccan/list/list.h>
