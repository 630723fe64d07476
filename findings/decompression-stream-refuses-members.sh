#!/usr/bin/env bash
# DecompressionStream of Node 24 refuses a gzip file that that of Node 22 reads, and that zlib reads in both.
#
# node 22.23.3, 24.21.0 and deno 2.9.6: the bytes of `cat a.gz b.gz`, which RFC 1952 calls one file with two members.
# One would guess: what gunzip reads is read by DecompressionStream('gzip') too, and as well after an update of Node.
# Seen: Node 22 gives both texts. Node 24 gives the first and then ERR_TRAILING_JUNK_AFTER_STREAM_END, Deno a TypeError; the
# standard has it so. So what bgzip and `gzip >>` write is cut off there. createGunzip of node:zlib reads both members in all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/members.mjs" <<'JS'
import { gunzipSync, gzipSync } from 'node:zlib'

const file = Buffer.concat([gzipSync('a'), gzipSync('b')])
const stream = new Blob([file]).stream().pipeThrough(new DecompressionStream('gzip'))
const seen = await new Response(stream).text().catch(() => 'refused')
console.log(`${seen}, zlib ${gunzipSync(file)}`)
JS
for expected in 'node@22.23.3 ab' 'node@24.21.0 refused' 'deno@2.9.6 refused'; do
  package=${expected%% *}
  npm install --silent --no-audit --no-fund --no-package-lock --prefix "$folder/$package" "$package" >/dev/null
  case $package in
    node@*) seen=$("$folder/$package/node_modules/node/bin/node" "$folder/members.mjs") ;;
    deno@*) seen=$("$folder/$package/node_modules/.bin/deno" run --no-config "$folder/members.mjs") ;;
  esac
  echo "$package: DecompressionStream $seen"
  [ "$package $seen" = "$expected, zlib ab" ] || { echo "that has changed: expected $expected" >&2; exit 1; }
done
