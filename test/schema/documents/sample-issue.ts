import type { IssueRecord } from '../../../src/schema/schema.ts'

/** Just the required properties. */
export const bareIssue: IssueRecord = {
  number: 7,
  poster_id: 3,
  poster_name: 'mia',
  title: 'The countdown skips four',
  content: 'Five, three, two.',
  state: 'open',
  is_locked: false,
  created: '2024-02-29T08:30:00Z',
  updated: '2024-03-01T10:00:00.52+02:00',
}

/** Every property, each list with something in it. */
export const fullIssue: IssueRecord = {
  ...bareIssue,
  poster_email: 'mia@example.com',
  ref: 'main',
  milestone: 'First flight',
  state: 'closed',
  closed: '2024-03-01T10:00:00Z',
  labels: [{ name: 'bug', color: 'd73a4a', description: 'Something is off' }, { name: 'urgent' }],
  reactions: [
    { user_id: 4, user_name: 'ada', content: '+1' },
    { user_id: 5, content: 'rocket' },
  ],
  assignees: ['ada', 'alice'],
}
