#!/usr/bin/env bash
# js-yaml 5.5.0 on Node (V8): a program that reads a hundred documents of 200 KB, one after the other, and remembers a name of each.
# One would guess: it remembers a hundred names, some kilobytes, as a program that reads the same with JSON.parse does.
# Seen: every document stays in memory, 20 MB in all, for as long as its name does. js-yaml cuts scalars out of the text, and V8 keeps a
# text as long as a part of it with 13 characters or more is used. With structuredClone of what js-yaml returns, only the names stay.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . js-yaml@5.5.0 >/dev/null
cat >run.mjs <<'JS'
import { load } from 'js-yaml'

const used = () => {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
const bytes = (at) => new TextEncoder().encode(JSON.stringify({ name: `the name of person ${at}`, text: 'x'.repeat(200_000) }))

function keptBy(parse) {
  const before = used()
  const names = Array.from({ length: 100 }, (_, at) => parse(new TextDecoder().decode(bytes(at))).name)
  const kept = (used() - before) / 1e6
  if (names[99] !== 'the name of person 99') throw new Error('not read')
  return kept
}

keptBy(JSON.parse) // what is compiled stays too
keptBy(load)
const [json, yaml, copied] = [JSON.parse, load, (text) => structuredClone(load(text))].map(keptBy)
console.log(`MB that stay: JSON.parse ${json.toFixed(1)}, js-yaml ${yaml.toFixed(1)}, js-yaml and a copy ${copied.toFixed(1)}`)
process.exit(json < 1 && yaml > 15 && copied < 1 ? 0 : 1)
JS
node --expose-gc run.mjs
