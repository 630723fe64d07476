import type { ErrorTable } from './error-meanings.ts'

/**
 * What the codes of PostgreSQL mean: whole ones, and the beginnings of others.
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const POSTGRES_ERRORS: ErrorTable = {
  '08': 'cannot-now',
  '0A000': 'read-only',
  '23503': 'reference',
  '25006': 'read-only',
  '25P01': 'outside',
  '25P02': 'failed',
  '25P': 'cannot-now',
  '28': 'user',
  '3D000': 'database',
  '3F000': 'schema',
  '40001': 'aborted',
  '40P01': 'aborted',
  '42501': 'privilege',
  '42703': 'tables',
  '42710': 'exists',
  '42P01': 'tables',
  '53': 'space',
  '53300': 'full',
  '55P03': 'aborted',
  '57014': 'aborted', // by a timeout of a statement
  '57P': 'cannot-now',
  '58': 'cannot-now',
  XX: 'cannot-now',
}
