import type { CommandUnknownOpts } from '@commander-js/extra-typings'

/** The shells that commands and options can be completed in. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** Returns a script that completes the commands, the options and their choices in a shell; any other word is a file. */
export function completionScript(program: CommandUnknownOpts, shell: (typeof SHELLS)[number]): string {
  const cases = casesOf(program, '')
  if (shell === 'fish') {
    return `function __forgelet_words
  set -l before (commandline -opc)
  set -l path (string match -v -- '-*' $before[2..])
  switch " $path $before[-1]"
${cases.map(({ begins, ends, words }) => `    case '${begins}*${ends}'\n      string split ' ' -- '${words}'`).join('\n')}
  end
end
complete -c forgelet -a '(__forgelet_words)'`
  }
  return `${shell === 'zsh' ? 'autoload -Uz bashcompinit && bashcompinit\n' : ''}_forgelet() {
  local word path= words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || path+=" $word"; done
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${cases.map(({ begins, ends, words }) => `    '${begins}'*'${ends}') words='${words}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _forgelet forgelet`
}

/** The words that can follow a line of this form: its commands, and then its last word. */
interface Case {
  readonly begins: string
  readonly ends: string
  readonly words: string
}

/** What can follow a command and those below it. The first that fits counts. */
function casesOf(command: CommandUnknownOpts, path: string): readonly Case[] {
  const begins = `${path} `
  const words = [
    ...command.commands.map((sub) => sub.name()),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ...command.options.map(({ long }) => long),
    '--help',
  ]
  return [
    ...command.commands.flatMap((sub) => casesOf(sub, `${begins}${sub.name()}`)),
    ...command.options.flatMap(({ long, argChoices }) =>
      argChoices ? [{ begins, ends: `${long}`, words: argChoices.join(' ') }] : [],
    ),
    { begins, ends: '', words: words.join(' ') },
  ]
}
