// The standard headers that most files include, compiled once. The build puts it before every file
// of the library and the program to save time; no file may rely on it, which `make tidy` proves for
// the headers by compiling each alone.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
