import type { JsonSchema } from '../json-schema.ts'

/** A user, as the host shows it: an object of any shape, in which these, when they are there, are what Gitea's are. */
export const userSchema: JsonSchema = {
  type: 'object',
  description:
    'A user, as the host shows it to another signed-in user. Which of the properties are there is up to the host.',
  properties: {
    id: { type: ['integer', 'string'], format: 'int64', description: 'identifier of the account; a number in Gitea' },
    login: { type: 'string', description: 'name of the account' },
    username: { type: 'string', description: 'the same as `login`' },
    full_name: { type: 'string', description: 'name to show' },
    email: { type: 'string', description: 'address, or a placeholder for one that is hidden' },
    avatar_url: { type: 'string', description: 'address of the picture' },
    html_url: { type: 'string', description: 'address of the profile page' },
    is_admin: { type: 'boolean', description: 'whether it is a site admin; false where that is not to be seen' },
    created: { type: 'string', format: 'date-time', description: 'when the account was made' },
    location: { type: 'string' },
    website: { type: 'string' },
    description: { type: 'string' },
    visibility: { type: 'string', description: '`public`, `limited` or `private`' },
  },
}
