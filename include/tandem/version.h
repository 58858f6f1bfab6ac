// The version of Tandem. The build, the shared library's name, tandem.pc, the CMake package and
// `tandem version` all take it from here.
//
// While the first number is 0, a program must be compiled with the headers of the library that it
// runs with. From 1 on, libraries with the same first number are interchangeable. Files on disk
// have a format version of their own.
#pragma once

namespace tandem {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace tandem
