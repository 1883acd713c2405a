#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lays out an amd64 sysroot for fact-tune from Debian packages, without touching the
# system's own: make-sysroot.sh DIR. fact-tune needs no LLVM, so this is small.
set -euo pipefail
root=$(realpath -m "${1:?usage: make-sysroot.sh DIR}")
sysroot=$root/sysroot
[ -e "$sysroot/.complete" ] && exit 0

packages=(
  libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev
  libgcc-s1 libgcc-12-dev libstdc++6 libstdc++-12-dev gcc-12-base
  libsqlite3-0 libsqlite3-dev nlohmann-json3-dev
)

# A private apt root: packages of another architecture cannot be installed beside their
# twins, and need not be.
apt=$root/apt
mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,dpkg} "$root/debs" "$sysroot"
touch "$apt/dpkg/status"
cat > "$apt/apt.conf" <<EOF
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "";
Dir::State "$apt/state";
Dir::State::status "$apt/dpkg/status";
Dir::Cache "$apt/cache";
EOF
export APT_CONFIG=$apt/apt.conf
echo "sysroot: downloading ${#packages[@]} packages"
apt-get -qq update
(cd "$root/debs" && apt-get -qq download "${packages[@]}")
for deb in "$root"/debs/*.deb; do dpkg -x "$deb" "$sysroot"; done

# Absolute links point inside the sysroot.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  target=$(readlink "$link")
  case $target in
  /lib/* | /usr/*)
    ln -snf "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$target")" "$link" ;;
  esac
done
touch "$sysroot/.complete"
