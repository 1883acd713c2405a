#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lays out a sysroot with the archives of LLVM and MLIR 22 from Debian packages, without touching the
# system's own: make-sysroot.sh ARCHITECTURE DIR (x86_64 or aarch64; 170 MB to download).
set -euo pipefail
architecture=${1:?usage: make-sysroot.sh ARCHITECTURE DIR}
root=$(realpath -m "${2:?usage: make-sysroot.sh ARCHITECTURE DIR}")
case $architecture in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) echo "sysroot: error: '$architecture' is neither x86_64 nor aarch64" >&2; exit 1 ;;
esac
sysroot=$root/sysroot
[ -e "$sysroot/.complete" ] && exit 0

packages=(
  libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev
  libgcc-s1 libgcc-12-dev libstdc++6 libstdc++-12-dev gcc-12-base
  libsqlite3-0 libsqlite3-dev nlohmann-json3-dev libcurl4-openssl-dev libcurl4
  zlib1g zlib1g-dev libzstd1 libzstd-dev libffi8 libffi-dev libxml2 libxml2-dev
  libedit2 libedit-dev libncurses-dev libtinfo6
  llvm-22-dev libllvm22 libmlir-22-dev libmlir-22
)

# A private apt root: packages of another architecture cannot be installed beside their
# twins, and need not be.
apt=$root/apt
mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,dpkg} "$root/debs" "$sysroot"
touch "$apt/dpkg/status"
cat > "$apt/apt.conf" <<CONF
APT::Architecture "$debian";
APT::Architectures { "$debian"; };
APT::Sandbox::User "";
Dir::State "$apt/state";
Dir::State::status "$apt/dpkg/status";
Dir::Cache "$apt/cache";
CONF
export APT_CONFIG=$apt/apt.conf
echo "sysroot: downloading ${#packages[@]} packages"
apt-get -qq update
(cd "$root/debs" && apt-get -qq download "${packages[@]}")
for deb in "$root"/debs/*.deb; do dpkg -x "$deb" "$sysroot"; done
rm -rf "$root/debs"

# Absolute links point inside the sysroot.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  target=$(readlink "$link")
  case $target in
  /lib/* | /usr/*)
    ln -snf "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$target")" "$link" ;;
  esac
done

# This machine's own tablegen stands where LLVM's CMake files expect the other one's, and the
# libraries that they check for, and nothing here links, are empty files.
llvm=$sysroot/usr/lib/llvm-22
rm -rf "$llvm/bin"
ln -s /usr/lib/llvm-22/bin "$llvm/bin"
grep -ho '_IMPORT_PREFIX}/lib/[^" ]*' "$llvm"/lib/cmake/{llvm,mlir}/*-*.cmake | sort -u |
  while read -r file; do
    file=$llvm/${file#*\}/}
    [ -e "$file" ] || touch "$file"
  done
touch "$sysroot/.complete"
