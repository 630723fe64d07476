import type { CommandUnknownOpts } from '@commander-js/extra-typings'

/** The shells that commands and options can be completed in. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** One of these shells. */
export type Shell = (typeof SHELLS)[number]

/** Returns a script that completes the commands, the options and their choices in a shell; any other word is a file. */
export function completionScript(program: CommandUnknownOpts, shell: Shell): string {
  const places = placesOf(program, [])
  if (shell === 'fish') return places.flatMap(fishLines).join('\n')
  return `${shell === 'zsh' ? 'autoload -Uz bashcompinit && bashcompinit\n' : ''}${bashScript(places)}`
}

/** A command with the words that lead to it. */
interface Place {
  readonly path: readonly string[]
  readonly command: CommandUnknownOpts
}

/** The command and all below it, the deepest first. */
function placesOf(command: CommandUnknownOpts, path: readonly string[]): readonly Place[] {
  return [...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()])), { path, command }]
}

function bashScript(places: readonly Place[]): string {
  const values = places.flatMap(({ path, command }) =>
    command.options.flatMap(({ long, argChoices }) =>
      argChoices ? [`    '${['', ...path].join(' ')} '*'${long}') words='${argChoices.join(' ')}' ;;`] : [],
    ),
  )
  const words = places.map(
    ({ path, command }) => `      '${['', ...path, ''].join(' ')}'*) words='${wordsOf(command).join(' ')}' ;;`,
  )
  return `_forgelet() {
  local word path= words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || path+=" $word"; done
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
    *) case "$path " in
${words.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _forgelet forgelet`
}

function wordsOf(command: CommandUnknownOpts): readonly string[] {
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const options = command.options.flatMap(({ long }) => long ?? [])
  return [...command.commands.map((sub) => sub.name()), ...choices, ...options, '--help']
}

function fishLines({ path, command }: Place): readonly string[] {
  const names = command.commands.map((sub) => sub.name())
  const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`)
  const notYet = names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names.join(' ')}`]
  const start = `complete -c forgelet -n '${[...seen, ...notYet].join('; and ')}'`
  return [
    ...command.commands.map((sub) => `${start} -f -a ${sub.name()} -d '${quoted(sub.description())}'`),
    ...command.registeredArguments.flatMap(
      ({ argChoices }) => argChoices?.map((word) => `${start} -f -a ${word}`) ?? [],
    ),
    ...command.options.map(({ long, required, argChoices, description }) => {
      const value = argChoices ? ` -x -a '${argChoices.join(' ')}'` : required ? ' -r' : ''
      return `${start} -l ${long?.slice(2)}${value} -d '${quoted(description)}'`
    }),
  ]
}

function quoted(text: string): string {
  return text.replaceAll("'", String.raw`\'`)
}
