# Read by CMake right after llama.cpp's own project() call, through CMAKE_PROJECT_llama.cpp_INCLUDE.
# llama-cpp-python forces llama.cpp's `common` library on in the cache, yet neither compiles against
# it nor installs it. A plain variable of this directory shadows the cache entry, so that `common`
# and the HTTP library it brings are not configured at all. The source itself stays as published.
set(LLAMA_BUILD_COMMON OFF)
