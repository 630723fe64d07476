#!/usr/bin/env bash
# @fastify/express 4.0.7 (npm), fastify 5.12.8.
# Guess: a middleware of Express finds in request.url what the client has sent, as in Express itself.
# Seen: the plugin has passed the whole target, the query too, through decodeURI. `?q=%2525`, which is the text "%25", arrives as `?q=%25`,
# and request.query.q is "%" after the second decoding: every percent sign that was sent is decoded twice. originalUrl is what was sent.
# @fastify/middie leaves request.url as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fastify@5.12.8 @fastify/express@4.0.7 @fastify/middie@9.3.6
cat > look.mjs <<'JS'
import express from '@fastify/express'
import middie from '@fastify/middie'
import fastify from 'fastify'
async function seenBy(plugin) {
  const app = fastify()
  await app.register(plugin)
  app.use((request, response) => response.end(JSON.stringify([request.url, request.originalUrl, request.query?.q])))
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const seen = await (await fetch(`${origin}/a%20b?q=%2525`)).json()
  await app.close()
  return seen
}
const [url, originalUrl, q] = await seenBy(express)
const [withMiddie] = await seenBy(middie)
console.log(`@fastify/express: url ${url}, originalUrl ${originalUrl}, q ${q}; @fastify/middie: url ${withMiddie}`)
const isAsSeen = url === '/a b?q=%25' && originalUrl === '/a%20b?q=%2525' && q === '%' && withMiddie === '/a%20b?q=%2525'
process.exit(isAsSeen ? 0 : 1)
JS
node look.mjs
