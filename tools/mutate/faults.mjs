// The faults that can be planted in a source file: a list of text replacements, found in the TypeScript AST.
import ts from 'typescript'

/** What replaces an operator: its negation, its neighbour at the boundary, its opposite. */
const OPERATORS = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.QuestionQuestionToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '+'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
])

/** Lists the faults of a file, in the order of its text: `{ path, line, start, end, replacement, code }`. */
export function faultsIn(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  const faults = []

  const plant = (node, replacement, start = node.getStart(source), end = node.getEnd()) => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    faults.push({ path, line, start, end, replacement, code: text.slice(start, end) })
  }
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    plantIn(node, plant)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return faults
}

function plantIn(node, plant) {
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition
    for (const value of ['true', 'false']) if (condition.getText() !== value) plant(condition, value)
  } else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) {
    plant(node.expression, 'false')
  } else if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS.get(node.operatorToken.kind)
    if (operator !== undefined && !isConcatenation(node)) plant(node.operatorToken, operator)
  } else if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === ts.SyntaxKind.ExclamationToken) plant(node, node.operand.getText())
  } else if (ts.isNumericLiteral(node)) {
    plant(node, `(${node.getText()} + 1)`)
  } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
    plant(node, node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true')
  } else if (ts.isReturnStatement(node)) {
    if (node.expression !== undefined && node.expression.getText() !== 'undefined') plant(node, 'return')
  } else if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) {
    if (!isSuperCall(node)) plant(node, ';')
  }
}

/** A constructor without its `super(...)` never runs, and tells nothing. */
function isSuperCall({ expression }) {
  return ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword
}

/** Whether a plus joins texts. */
function isConcatenation({ operatorToken, left, right }) {
  return operatorToken.kind === ts.SyntaxKind.PlusToken && (isText(left) || isText(right))
}

function isText(node) {
  if (ts.isBinaryExpression(node)) return isConcatenation(node)
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}
