export { canonicalIssue, canonicalLabel, canonicalMilestone } from '../schema/canonical-issue.ts'
export type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  NotCarried,
  ReactionRecord,
  RecordLocator,
  SourcePosition,
} from '../schema/issue-record.ts'
export type { ByteSource, OpenableBytes } from './documents/byte-source.ts'
export type { DocumentReadOptions, IssueDocuments } from './documents/issue-documents.ts'
export { issueDocuments } from './documents/issue-documents.ts'
export { readExchange, readIssues } from './documents/read-exchange.ts'
export type {
  IssueSource,
  ListSource,
  ReadLimits,
  ReadOptions,
  ReadProgress,
  SourceFolder,
} from './documents/read-options.ts'
export type { CsvOptions } from './documents/write-csv.ts'
export { writeCsv } from './documents/write-csv.ts'
export { writeIssues } from './documents/write-issues.ts'
export type { ConversionOptions } from './forges/findings.ts'
export type { ExchangeFormat } from './forges/forge-format.ts'
