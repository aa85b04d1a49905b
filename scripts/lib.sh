# Shared by the scripts of this folder; to be sourced. Talk goes to stderr, data to stdout.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=$(nproc)
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs
# Colours and progress bars have no place in a log.
export CLICOLOR=0

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$0: $*"
  exit 1
}

# help_from_head SCRIPT [ARGUMENT…] prints the comment at the head of a script and ends, if --help is asked for.
help_from_head() {
  if [[ ${2-} != --help && ${2-} != -h ]]; then return 0; fi
  sed -n -e '2,${/^#/!q' -e '/^# shellcheck/d' -e 's/^# \{0,1\}//p' -e '}' "$1"
  exit 0
}

# What the tool is built from, what the tests are built with besides, and what they are run with.
# shellcheck disable=SC2034  # used by those who source this
tool_packages=(g++ cmake ninja-build git libcli11-dev nlohmann-json3-dev libfmt-dev zlib1g-dev libboost-dev
  opencl-headers opencl-clhpp-headers ocl-icd-opencl-dev pocl-opencl-icd)
# shellcheck disable=SC2034
test_build_packages=("${tool_packages[@]}" libgtest-dev libgmock-dev librapidcheck-dev python3 python3-jsonschema
  python3-pip python3-venv clang libclang-rt-14-dev doxygen)
# shellcheck disable=SC2034
test_packages=("${test_build_packages[@]}" chromium fonts-dejavu-core oclgrind parasail emboss mummer bowtie-examples
  bowtie2-examples)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

# need_packages NAME… installs those Debian packages that are missing; asks nothing of apt if none is.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is not a Debian system: what is missing will not be installed. Needed: $*."
    return
  fi
  local name missing=()
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  ((${#missing[@]} > 0)) || return 0
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "These Debian packages are missing, and only root can install them: ${missing[*]}." \
      "Run this as root, install sudo, or ask for: apt-get install ${missing[*]}"
  fi
  say "Installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    die "apt-get could not install ${missing[*]}; its last words stand above."
  fi
  rm -f "$log"
}

# CUDA's compiler is often installed off the PATH.
find_nvcc() {
  if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
    PATH=$PATH:/usr/local/cuda/bin
  fi
}

# fetch_disassembler puts cuobjdump into build/tools where there is nvcc but none beside it (it is a package of its own):
# one test reads machine code. Without it that test is skipped.
fetch_disassembler() {
  command -v nvcc >/dev/null || return 0
  command -v cuobjdump >/dev/null && return 0
  [[ -x $(dirname "$(command -v nvcc)")/cuobjdump || -x $root/build/tools/nvidia/cu13/bin/cuobjdump ]] && return 0
  python3 -m pip --version >/dev/null 2>&1 || (need_packages python3-pip) || true
  if python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$root/build/tools" nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm >/dev/null 2>&1; then
    chmod +x "$root"/build/tools/nvidia/cu13/bin/*
  else
    say "cuobjdump could not be fetched: the machine code is not tested"
  fi
}

# folder_of PRESET prints where it builds: preset test beside what scripts/quickstart has built.
folder_of() {
  if [[ $1 == test || $1 == quickstart ]]; then printf 'build/release\n'; else printf 'build/%s\n' "$1"; fi
}

# configure PRESET [OPTION…] runs CMake, quietly unless it fails.
configure() {
  local preset=$1 cache options=()
  cache=$(folder_of "$1")/CMakeCache.txt
  shift
  # A build folder remembers that there was no nvcc.
  if [[ -f $cache ]] && command -v nvcc >/dev/null && grep -q '^CMAKE_CUDA_COMPILER:.*NOTFOUND' "$cache"; then
    options+=(--fresh)
  fi
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  local log
  log=$(mktemp)
  if ! cmake --preset "$preset" "${options[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  grep '^-- gpusync ' "$log" >&2 || true
  rm -f "$log"
}

# Says how far a build has come, a line for each fifth of it; on a terminal, one line that changes.
show_progress() {
  local line part=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
    local done_=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    if [[ -t 2 ]]; then
      printf '\r  %d of %d' "$done_" "$all" >&2
      ((done_ < all)) || printf '\n' >&2
    elif ((5 * done_ / all > part)); then
      part=$((5 * done_ / all))
      say "  $done_ of $all"
    fi
  done
}

# compile PRESET [TARGET…] builds, and says no more than how far it is unless it fails.
compile() {
  local preset=$1 log
  shift
  log=$(mktemp)
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  if ! "${launcher[@]}" cmake --build --preset "$preset" "${targets[@]}" 2>&1 | tee "$log" | show_progress; then
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 100 >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
# What compilations and tests run under; see scripts/test.
launcher=()

# Prints the seconds since `begin`, a value of $SECONDS.
seconds_since() { printf '%d s' $((SECONDS - $1)); }

# Every source file that clang-format knows, one a line.
sources() {
  find include src tests examples bench verify python -type f \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu' -o -name '*.h' -o -name '*.cl' \) 2>/dev/null |
    LC_ALL=C sort
}
