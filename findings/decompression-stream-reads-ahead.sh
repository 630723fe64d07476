#!/usr/bin/env bash
# DecompressionStream of Node takes the whole compressed input while nobody reads.
#
# node@20.20.2 and node@22.23.3 (npm): `source.pipeThrough(new DecompressionStream('gzip'))`, of which one piece was read.
# One would guess: a few pieces are decompressed ahead of the reader, as pipeThrough promises, and the source is asked no more.
# Seen: all of a 40 MB source is taken and decompressed into memory, because the readable side may hold 16,384 pieces of 16 KiB.
# node 24.21.0 takes 192 KiB. A program that must not do so on the older ones gives the next input only when nothing is left to read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/take.mjs" <<'JS'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

const compressed = gzipSync(randomBytes(40_000_000))
let taken = 0
const source = new ReadableStream(
  {
    pull(controller) {
      if (taken >= compressed.length) return controller.close()
      controller.enqueue(compressed.subarray(taken, taken + 65_536))
      taken = Math.min(taken + 65_536, compressed.length)
    },
  },
  { highWaterMark: 0 },
)
await source.pipeThrough(new DecompressionStream('gzip')).getReader().read()
let before
do {
  before = taken
  await new Promise((resolve) => setTimeout(resolve, 1000))
} while (taken > before)
console.log(taken === compressed.length ? 'all' : taken < 1_000_000 ? 'a little' : taken)
JS
for expected in 'node@20.20.2 all' 'node@22.23.3 all' 'node@24.21.0 a little'; do
  package=${expected%% *}
  npm install --silent --no-audit --no-fund --no-package-lock --prefix "$folder/$package" "$package" >/dev/null
  seen=$("$folder/$package/node_modules/node/bin/node" "$folder/take.mjs")
  echo "$package: $seen is taken"
  [ "$package $seen" = "$expected" ] || { echo "that has changed: expected $expected" >&2; exit 1; }
done
