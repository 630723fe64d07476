import { issueCheck } from '../../schema/documents/record-schemas.ts'
import type { Conversion, ForgeFormat } from './forge-format.ts'

/** Our own documents. Everything in them is carried. */
export const documentFormat: ForgeFormat = {
  name: 'document',
  // Also any list that no other form recognizes: its violations are those of a document.
  recognizes: () => true,
  open: () => DOCUMENT,
}

const DOCUMENT: Conversion = {
  convert(record, findings) {
    if (issueCheck.fits(record)) return [{ kind: 'issue', issue: record }]

    for (const { path, code, message } of issueCheck.findings(record, [])) findings.invalid(path, code, message)
    return []
  },
}
