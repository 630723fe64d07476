export { issueJsonSchema, labelJsonSchema, reactionJsonSchema } from './documents/json-schema.ts'
export type { Schema, SchemaIssue, SchemaResult } from './documents/record-schemas.ts'
export { issueListSchema, issueSchema, labelSchema, reactionSchema } from './documents/record-schemas.ts'
export type { IssueValidation, ValidateIssuesOptions } from './documents/validate-issues.ts'
export { validateIssues } from './documents/validate-issues.ts'
export type {
  ForgeErrorCode,
  ForgeErrorConstructor,
  ForgeErrorDetails,
  ForgeErrorOf,
  ForgeErrorRest,
} from './errors.ts'
export { ForgeError, isForgeError } from './errors.ts'
export type { Id, IdInput } from './ids.ts'
export type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  NotCarried,
  ReactionRecord,
} from './issue-record.ts'
export type { PinKind, SigningKeyFormat } from './records.ts'
export type { Violation } from './violation.ts'
