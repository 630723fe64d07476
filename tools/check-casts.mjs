// A cast tells the compiler to believe without proof, so the codebase allows one only where unknown data is received, with the
// reason in a comment on the line above or behind it. The linter has no rule for `as`; this is it. `as const` and `satisfies` are free.
// Usage: node tools/check-casts.mjs [folder, default src]
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const folder = process.argv[2] ?? 'src'
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
const unexplained = files.flatMap((name) => unexplainedCasts(join(folder, name)))

for (const line of unexplained) console.error(line)
if (unexplained.length > 0) {
  console.error(`\n${unexplained.length} cast(s) without a reason: prove the type instead, or say why beside it.`)
  process.exitCode = 1
}

function unexplainedCasts(path) {
  const text = readFileSync(path, 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  const lines = text.split('\n')
  return casts(source)
    .map((cast) => ({
      cast,
      line: lineOf(source, cast.getStart()),
      statement: lineOf(source, statementOf(cast).getStart()),
    }))
    .filter(({ line, statement }) => !hasReason(lines, line) && !hasReason(lines, statement))
    .map(({ cast, line }) => `${path}:${line + 1}  ${cast.getText().split('\n')[0]}`)
}

/** The casts in a tree; of `x as unknown as T` only the outer one. */
function casts(node) {
  if (isCast(node)) return [node, ...casts(isCast(node.expression) ? node.expression.expression : node.expression)]

  const found = []
  ts.forEachChild(node, (child) => void found.push(...casts(child)))
  return found
}

function isCast(node) {
  if (ts.isTypeAssertionExpression(node)) return true
  return ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)
}

function statementOf(node) {
  let current = node
  while (!ts.isStatement(current) && !ts.isClassElement(current)) current = current.parent
  return current
}

function lineOf(source, position) {
  return source.getLineAndCharacterOfPosition(position).line
}

/** A comment of ours: a doc comment says what a thing is for, not why a cast is right. */
function hasReason(lines, line) {
  return lines[line - 1]?.trim().startsWith('//') === true || lines[line].includes(' // ')
}
