/** A record as a forge writes it. */
export type Sample = { readonly [property: string]: unknown }

const user = (id: number, login: string): Sample => ({
  login,
  id,
  node_id: `U_${id}`,
  avatar_url: `https://avatars.example.com/u/${id}`,
  html_url: `https://github.example.com/${login}`,
  type: 'User',
  user_view_type: 'public',
  site_admin: false,
})

const githubUrl = 'https://api.github.example.com/repos/acme/rocket'

/** An issue of GitHub's REST API, with the properties that are always there. */
export const githubIssue: Sample = {
  url: `${githubUrl}/issues/7`,
  repository_url: githubUrl,
  labels_url: `${githubUrl}/issues/7/labels{/name}`,
  comments_url: `${githubUrl}/issues/7/comments`,
  events_url: `${githubUrl}/issues/7/events`,
  html_url: 'https://github.example.com/acme/rocket/issues/7',
  id: 1001,
  node_id: 'I_7',
  number: 7,
  title: 'The countdown skips four',
  user: user(3, 'mia'),
  labels: [
    {
      id: 9,
      node_id: 'LA_9',
      url: `${githubUrl}/labels/bug`,
      name: 'bug',
      color: 'd73a4a',
      default: true,
      description: null,
    },
    'urgent',
  ],
  state: 'closed',
  locked: true,
  assignee: user(4, 'ada'),
  assignees: [user(4, 'ada'), user(5, 'wim')],
  milestone: {
    url: `${githubUrl}/milestones/1`,
    html_url: 'https://github.example.com/acme/rocket/milestone/1',
    labels_url: `${githubUrl}/milestones/1/labels`,
    id: 11,
    node_id: 'MI_11',
    number: 1,
    title: 'First flight',
    description: 'To the moon',
    creator: user(3, 'mia'),
    open_issues: 1,
    closed_issues: 2,
    state: 'open',
    created_at: '2024-01-01T00:00:00Z',
    updated_at: '2024-01-02T00:00:00Z',
    due_on: '2024-12-24T08:00:00Z',
    closed_at: null,
  },
  comments: 2,
  created_at: '2024-02-29T08:30:00Z',
  updated_at: '2024-03-01T10:00:00Z',
  closed_at: '2024-03-01T10:00:00Z',
  author_association: 'MEMBER',
  active_lock_reason: 'resolved',
  draft: false,
  body: 'Five, three, two. ![](https://github.com/user-attachments/assets/1)',
  closed_by: user(3, 'mia'),
  reactions: { url: `${githubUrl}/issues/7/reactions`, total_count: 3, '+1': 2, '-1': 0, rocket: 1 },
  timeline_url: `${githubUrl}/issues/7/timeline`,
  performed_via_github_app: null,
  state_reason: 'completed',
  sub_issues_summary: { total: 0, completed: 0, percent_completed: 0 },
}

/** A comment of GitHub's REST API. */
export const githubComment: Sample = {
  url: `${githubUrl}/issues/comments/21`,
  html_url: 'https://github.example.com/acme/rocket/issues/7#issuecomment-21',
  issue_url: `${githubUrl}/issues/7`,
  id: 21,
  node_id: 'IC_21',
  user: null,
  created_at: '2024-02-29T09:00:00Z',
  updated_at: '2024-02-29T09:00:00Z',
  author_association: 'NONE',
  body: 'Four was tired.',
  reactions: { url: `${githubUrl}/issues/comments/21/reactions`, total_count: 0, '+1': 0 },
  performed_via_github_app: null,
}

/** An issue of GitLab's project export. */
export const gitlabIssue: Sample = {
  id: 501,
  title: 'The countdown skips four',
  author_id: 3,
  project_id: 8,
  created_at: '2024-02-29T08:30:00.250Z',
  updated_at: '2024-03-01T10:00:00.000Z',
  description: 'Five, three, two. ![log](/uploads/0123456789abcdef0123456789abcdef/log.png)',
  iid: 7,
  updated_by_id: null,
  confidential: false,
  closed_at: '2024-03-01T10:00:00.000Z',
  closed_by_id: 3,
  due_date: '2024-12-24',
  lock_version: 0,
  relative_position: 513,
  time_estimate: 3600,
  discussion_locked: null,
  weight: null,
  state: 'closed',
  notes: [
    {
      id: 31,
      note: 'Four was tired.',
      noteable_type: 'Issue',
      author_id: 99,
      created_at: '2024-02-29T09:00:00.000Z',
      updated_at: '2024-02-29T09:00:00.000Z',
      project_id: 8,
      system: false,
      internal: false,
      author: { name: 'Gone Long Ago' },
      award_emoji: [{ id: 1, name: 'rocket', user_id: 3, awardable_type: 'Note', awardable_id: 31 }],
    },
    {
      id: 32,
      note: 'closed',
      noteable_type: 'Issue',
      author_id: 3,
      created_at: '2024-03-01T10:00:00.000Z',
      updated_at: '2024-03-01T10:00:00.000Z',
      system: true,
      author: { name: 'Mia' },
    },
  ],
  label_links: [
    {
      id: 41,
      label_id: 9,
      target_id: 501,
      target_type: 'Issue',
      label: {
        id: 9,
        title: 'bug',
        color: '#d73a4a',
        project_id: 8,
        description: '',
        type: 'ProjectLabel',
        priorities: [],
      },
    },
  ],
  milestone: {
    id: 11,
    title: 'First flight',
    project_id: 8,
    description: 'To the moon',
    due_date: '2024-12-24',
    start_date: '2024-01-01',
    created_at: '2024-01-01T00:00:00.000Z',
    updated_at: '2024-01-02T00:00:00.000Z',
    state: 'active',
    iid: 1,
  },
  issue_assignees: [
    { user_id: 4, issue_id: 501 },
    { user_id: 4, issue_id: 501 },
  ],
  award_emoji: [{ id: 2, name: 'thumbsup', user_id: 4, awardable_type: 'Issue', awardable_id: 501 }],
  timelogs: [{ id: 1, time_spent: 600 }],
}

const gitlabUser = (id: number, username: string): Sample => ({
  id,
  username,
  name: username.toUpperCase(),
  state: 'active',
  locked: false,
  avatar_url: null,
  web_url: `https://gitlab.example.com/${username}`,
})

/** An issue of GitLab's REST API. The same as `gitlabIssue`. */
export const gitlabRestIssue: Sample = {
  id: 501,
  iid: 7,
  project_id: 8,
  title: 'The countdown skips four',
  description: gitlabIssue['description'],
  state: 'closed',
  created_at: '2024-02-29T08:30:00.250Z',
  updated_at: '2024-03-01T10:00:00.000Z',
  closed_at: '2024-03-01T10:00:00.000Z',
  closed_by: gitlabUser(3, 'mia'),
  labels: [
    {
      id: 9,
      name: 'bug',
      description: '',
      description_html: '',
      text_color: '#FFFFFF',
      color: '#d73a4a',
      archived: false,
    },
    'urgent',
  ],
  milestone: {
    id: 11,
    iid: 1,
    project_id: 8,
    title: 'First flight',
    description: 'To the moon',
    state: 'active',
    created_at: '2024-01-01T00:00:00.000Z',
    updated_at: '2024-01-02T00:00:00.000Z',
    due_date: '2024-12-24',
    start_date: '2024-01-01',
    expired: true,
    web_url: 'https://gitlab.example.com/acme/rocket/-/milestones/1',
  },
  assignees: [gitlabUser(4, 'ada')],
  author: gitlabUser(3, 'mia'),
  type: 'ISSUE',
  assignee: gitlabUser(4, 'ada'),
  user_notes_count: 1,
  merge_requests_count: 0,
  upvotes: 1,
  downvotes: 0,
  due_date: '2024-12-24',
  confidential: false,
  discussion_locked: null,
  issue_type: 'issue',
  web_url: 'https://gitlab.example.com/acme/rocket/-/issues/7',
  time_stats: { time_estimate: 3600, total_time_spent: 600, human_time_estimate: '1h', human_total_time_spent: '10m' },
  task_completion_status: { count: 0, completed_count: 0 },
  has_tasks: true,
  task_status: '0 of 0 checklist items completed',
  _links: { self: 'https://gitlab.example.com/api/v4/projects/8/issues/7' },
  references: { short: '#7', relative: '#7', full: 'acme/rocket#7' },
  severity: 'UNKNOWN',
  subscribed: true,
  moved_to_id: null,
  imported: false,
  imported_from: 'none',
  service_desk_reply_to: null,
}

/** A note of GitLab's REST API. */
export const gitlabNote: Sample = {
  id: 31,
  type: null,
  body: 'Four was tired.',
  attachment: null,
  author: gitlabUser(99, 'wim'),
  created_at: '2024-02-29T09:00:00.000Z',
  updated_at: '2024-02-29T09:00:00.000Z',
  system: false,
  noteable_id: 501,
  noteable_type: 'Issue',
  project_id: 8,
  resolvable: false,
  confidential: false,
  internal: false,
  imported: false,
  imported_from: 'none',
  noteable_iid: 7,
  commands_changes: {},
}

/** Members of a project in GitLab's project export. */
export const gitlabMembers: readonly Sample[] = [
  { id: 1, access_level: 40, user_id: 3, user: { id: 3, public_email: 'mia@example.com', username: 'mia' } },
  { id: 2, access_level: 30, user_id: 4, user: { id: 4, public_email: null, username: 'ada' } },
]

const giteaUser = (id: number, login: string): Sample => ({
  id,
  login,
  login_name: '',
  full_name: '',
  email: `${login}@example.com`,
  avatar_url: `https://git.example.com/avatars/${id}`,
  last_login: '0001-01-01T00:00:00Z',
  username: login,
})

/** Two issues of Gitea's REST API. The same as in `giteaDump`. */
export const giteaIssues: readonly Sample[] = [
  {
    id: 254,
    url: 'https://git.example.com/api/v1/repos/acme/rocket/issues/8',
    html_url: 'https://git.example.com/acme/rocket/issues/8',
    number: 8,
    user: giteaUser(2, 'root'),
    original_author: '',
    original_author_id: 0,
    title: 'yes',
    body: '# launch\n\n- one\n- two\n',
    ref: 'main',
    assets: [{ id: 1, name: 'log.txt' }],
    labels: [{ id: 1, name: '1.0', exclusive: true, is_archived: false, color: '000000', description: '' }],
    milestone: {
      id: 9,
      title: '2026-12-24',
      description: 'line one\nline two',
      state: 'open',
      open_issues: 1,
      closed_issues: 1,
      created_at: '2026-11-21T04:41:41Z',
      updated_at: '2026-11-21T04:41:42Z',
      closed_at: null,
      due_on: '2027-01-31T00:00:00Z',
    },
    assignee: giteaUser(3, 'mia'),
    assignees: [giteaUser(3, 'mia')],
    state: 'open',
    is_locked: false,
    comments: 1,
    created_at: '2026-11-21T04:41:42Z',
    updated_at: '2026-11-21T04:41:43Z',
    closed_at: null,
    due_date: '2027-03-01T00:00:00Z',
    time_estimate: 0,
    pull_request: null,
    repository: { id: 10, name: 'rocket', owner: 'acme', full_name: 'acme/rocket' },
    pin_order: 0,
  },
  {
    id: 253,
    number: 7,
    user: giteaUser(3, 'mia'),
    title: '0x1F',
    body: '',
    ref: '',
    labels: [],
    milestone: null,
    assignees: null,
    state: 'closed',
    is_locked: true,
    comments: 0,
    created_at: '2026-11-21T04:41:40Z',
    updated_at: '2026-11-21T04:41:41Z',
    closed_at: '2026-11-21T04:41:41Z',
    pull_request: null,
  },
]

/** A comment of Gitea's REST API. The same as in `giteaDump`. */
export const giteaComment: Sample = {
  id: 618,
  html_url: 'https://git.example.com/acme/rocket/issues/8#issuecomment-618',
  pull_request_url: '',
  issue_url: 'https://git.example.com/acme/rocket/issues/8',
  user: giteaUser(3, 'mia'),
  original_author: '',
  original_author_id: 0,
  body: 'null',
  assets: [],
  created_at: '2026-11-21T04:41:44Z',
  updated_at: '2026-11-21T04:41:45Z',
}

/** The files of a Gitea dump, as the server writes them. */
export const giteaDump: { readonly [name: string]: string } = {
  'repo.yml': 'name: rocket\nowner: acme\n',
  'label.yml': '- name: "1.0"\n  color: "000000"\n  description: ""\n  exclusive: true\n',
  'milestone.yml': `- title: "2026-12-24"
  description: |-
    line one
    line two
  deadline: 2027-01-31T00:00:00Z
  created: 2026-11-21T04:41:41Z
  updated: 2026-11-21T04:41:42Z
  closed: null
  state: open
`,
  'issue.yml': `- number: 8
  poster_id: 2
  poster_name: root
  poster_email: root@example.com
  title: "yes"
  content: |
    # launch

    - one
    - two
  ref: main
  milestone: "2026-12-24"
  state: open
  is_locked: false
  created: 2026-11-21T04:41:42Z
  updated: 2026-11-21T04:41:43Z
  closed: null
  labels:
    - name: "1.0"
      color: "000000"
      description: ""
      exclusive: true
  reactions:
    - user_id: 4
      user_name: wim
      content: eyes
  assignees:
    - mia
  foreignindex: 8
- number: 7
  poster_id: 3
  poster_name: mia
  poster_email: mia@example.com
  title: "0x1F"
  content: ""
  ref: ""
  milestone: ""
  state: closed
  is_locked: true
  created: 2026-11-21T04:41:40Z
  updated: 2026-11-21T04:41:41Z
  closed: 2026-11-21T04:41:41Z
  labels: []
  reactions: []
  assignees: []
  foreignindex: 7
[]
`,
  'comments/8.yml': `- issue_index: 8
  index: 618
  comment_type: ""
  poster_id: 3
  poster_name: mia
  poster_email: mia@example.com
  created: 2026-11-21T04:41:44Z
  updated: 2026-11-21T04:41:45Z
  content: "null"
  reactions: []
- issue_index: 8
  index: 619
  comment_type: label
  poster_id: 3
  poster_name: mia
  poster_email: mia@example.com
  created: 2026-11-21T04:41:44Z
  updated: 2026-11-21T04:41:45Z
  content: ""
  reactions: []
`,
}
