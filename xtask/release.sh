#!/usr/bin/env bash
# Builds what is published for one version, in target/published/vVERSION, and checks it: for each system the static program, its
# archive, wheel and bill of materials; and the crates. With `--tag`: from a clean tree, and tags the commit. It publishes
# nothing. `cargo xtask verify --release` checks the licences of all dependencies and starts it.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "error: $*" >&2
    exit 1
}

# One version for everything. The changelog begins with it.
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
tag=v$version
if grep 'path = "crates/' Cargo.toml | grep -v "version = \"$version\""; then
    fail "Cargo.toml demands another version than $version"
fi
title=$(grep -m 1 '^## ' CHANGELOG.md)
[[ "$title " = "## $version "* ]] || fail "CHANGELOG.md begins with \"$title\", not with version $version"
changes=$(awk '/^## / { section++; next } section == 1' CHANGELOG.md | sed '/./,$!d')
[ -n "$changes" ] || fail "CHANGELOG.md says nothing about $version"
dirty=--allow-dirty
if [ "${1-}" = --tag ]; then
    [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
    # A tag names what was committed, and never moves.
    [ -z "$(git tag --list "$tag")" ] || fail "$tag is released already: raise the version"
    dirty=
fi

built=${CARGO_TARGET_DIR:-$PWD/target}
published=$PWD/target/published
release=$published/$tag
tools=$PWD/target/release-tools
rm -rf "$published"
mkdir -p "$release"
echo "$changes" > "$release/CHANGES.md"
python3 -m venv "$tools"
# zig compiles C for musl on every processor, so that no system package is needed.
"$tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 ziglang==0.17.1
cargo install --quiet --locked --root "$tools" cargo-about@0.8.4
export PATH="$tools/bin:$PATH"

# Runs the program alone in a folder (no C library, no /proc, no /etc), and the wheel in an environment of its own.
check() {
    local alone=$published/alone environment=$published/environment
    if unshare --map-root-user --net true 2>/dev/null; then
        mkdir -p "$alone/tmp"
        cp "$1" "$alone"
        echo "import pandas" > "$alone/train.py"
        unshare --map-root-user --root "$alone" /mle-star check /train.py
    fi
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$2"
    [[ "$("$environment/bin/mle-star" --version)+" = "mle-star $version+"* ]] || fail "the wheel has another version"
    env --unset MLE_STAR_BIN PATH= "$environment/bin/python" -c "import mle_star
assert mle_star.__version__ == '$version'
assert mle_star.check('import os') == []"
    (cd "$published" && "$environment/bin/mle-star" doctor --e2e)
}

for processor in x86_64 aarch64; do
    target=$processor-unknown-linux-musl
    name=mle-star-$version-$target
    folder=$published/$name
    echo "--- $target"
    rustup target add "$target"
    # A static program runs with either C library, so one wheel is for both.
    maturin build --zig --target "$target" --release --out "$published/$target" \
        --compatibility manylinux2014 --compatibility musllinux_1_1
    wheel=$(echo "$published/$target"/*.whl)
    for tags in "manylinux_2_17_$processor" "musllinux_1_1_$processor"; do
        [[ "$wheel" = *"$tags"* ]] || fail "$wheel lacks the tag $tags"
    done
    cp "$wheel" "$release"
    python3 -m zipfile -e "$wheel" "$published/$target"
    cp "$published/$target"/*/sboms/* "$release/$name.cdx.json"

    mkdir -p "$folder/completions"
    program=$built/$target/release/mle-star
    # The lock file has the libraries that the program installs for scripts: for machines without a network.
    cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE crates/mle-star-backends/python/requirements.lock "$folder"
    cargo about generate --locked --fail --config xtask/about.toml --target "$target" \
        --manifest-path crates/mle-star-cli/Cargo.toml --output-file "$folder/THIRD-PARTY-LICENSES.txt" xtask/about.hbs
    if [ "$processor" = "$(uname -m)" ]; then
        check "$program" "$wheel"
        "$program" man "$folder/man"
        for shell in bash zsh fish; do
            "$program" completions "$shell" > "$folder/completions/$shell"
        done
    fi
    # The same files make the same archive, whoever packs them.
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u+w,go=rX \
        --use-compress-program "gzip --no-name --best" --create --file "$release/$name.tar.gz" \
        --directory "$published" "$name"
done

# Each crate compiles from its package.
rm -f "$built/package"/*.crate
cargo package --workspace --exclude xtask --exclude mle-star-lab --exclude mle-star-needs --locked $dirty
cp "$built/package"/*"-$version.crate" "$release"
[ "$(ls "$release"/*.crate | wc -l)" -eq "$(ls crates | wc -l)" ] || fail "not every crate was packaged"

(cd "$release" && sha256sum -- * > "$published/SHA256SUMS" && mv "$published/SHA256SUMS" .)
echo "--- $release is complete:"
ls -lh "$release"
if [ -z "$dirty" ]; then
    git tag --annotate "$tag" --message "mle-star $version" --message "$changes"
    echo "tagged $tag; \`git push origin $tag\` starts .github/workflows/release.yml, which publishes it"
fi
