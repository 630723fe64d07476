// A process that V8 forbids to make code from strings: checks the documents it is sent, and says how often making code was tried.
let tried = 0
globalThis.Function = class extends Function {
  constructor(...parts) {
    tried += 1
    super(...parts)
  }
}
const { validateIssues } = await import('../../../dist/schema.js')

process.on('message', ({ value, text }) => {
  process.send({ validation: validateIssues(text === undefined ? value : JSON.parse(text)), tried })
})
process.send('ready')
