"""`clusterforests completion`: what makes a shell complete commands, options and their values.

Written out from the options that the commands have, so that nothing needs to run when the user presses the tab key.
"""

import argparse
from collections.abc import Sequence

from clusterforests.cli.arguments import EXIT_CODES, Command, Option

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """examples:
  source <(clusterforests completion bash)                    # in ~/.bashrc
  clusterforests completion zsh > ~/.zfunc/_clusterforests    # ~/.zfunc in fpath
  clusterforests completion fish > \\
      ~/.config/fish/completions/clusterforests.fish

"""


def add_completion(command: Command) -> None:
    command.parser.description = "Print a script that makes a shell complete the commands and options."
    command.parser.epilog = EXAMPLES + EXIT_CODES
    command.add("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    command.parser.set_defaults(run=run_completion)


def run_completion(given: argparse.Namespace) -> int:
    write = {"bash": bash, "zsh": zsh, "fish": fish}[given.shell]
    print(write(given.commands), end="")
    return 0


def bash(commands: Sequence[Command]) -> str:
    cases = []
    for command in commands:
        flags = [flag for option in command.options for flag in option.flags]
        values = [
            f"        {'|'.join(option.flags)}) {_words(option.choices)}; return;;"
            for option in command.options
            if option.choices
        ]
        plain = ["|".join(option.flags) for option in command.options if option.takes == "value" and not option.choices]
        values += [f"        {'|'.join(plain)}) return;;"] if plain else []
        chosen = ['      case "$prev" in', *values, "      esac"] if values else []
        files = f'-W "{" ".join(command.words)}"' if command.words else "-f"
        cases += [
            f"    {command.name})",
            *chosen,
            f'      if [[ "$cur" == -* ]]; then {_words([*flags, "--help"])}',
            f'      else COMPREPLY=($(compgen {files} -- "$cur")); fi;;',
        ]
    names = " ".join(command.name for command in commands)
    return "\n".join(
        [
            "_clusterforests() {",
            '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            "  COMPREPLY=()",
            "  if [[ $COMP_CWORD -eq 1 ]]; then",
            f'    COMPREPLY=($(compgen -W "{names} --help --version" -- "$cur")); return',
            "  fi",
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            "  esac",
            "}",
            "complete -o filenames -F _clusterforests clusterforests",
            "",
        ]
    )


def _words(words: Sequence[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))'


def zsh(commands: Sequence[Command]) -> str:
    cases = []
    for command in commands:
        rest = f"'*:word:({' '.join(command.words)})'" if command.words else "'*:file:_files'"
        options = [_zsh_option(option) for option in command.options]
        cases.append(f"    {command.name}) _arguments {' '.join([*options, rest])};;")
    names = " ".join(f"'{command.name}:{_quiet(command.help)}'" for command in commands)
    return "\n".join(
        [
            "#compdef clusterforests",
            "_clusterforests() {",
            f"  local -a commands; commands=({names})",
            "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
            "  local command=$words[2]; shift words; (( CURRENT-- ))",
            "  case $command in",
            *cases,
            "  esac",
            "}",
            '_clusterforests "$@"',
            "",
        ]
    )


def _zsh_option(option: Option) -> str:
    values = {"file": ":file:_files", "value": ":value:", "nothing": ""}[option.takes]
    if option.choices:
        values = f":value:({' '.join(option.choices)})"
    return " ".join(f"'{flag}[{_quiet(option.help)}]{values}'" for flag in option.flags)


def fish(commands: Sequence[Command]) -> str:
    names = " ".join(command.name for command in commands)
    lines = []
    for command in commands:
        first = f"complete -c clusterforests -f -n 'not __fish_seen_subcommand_from {names}'"
        lines.append(f"{first} -a {command.name} -d '{_quiet(command.help)}'")
        there = f"complete -c clusterforests -n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines.append(f"{there} -f -a '{' '.join(command.words)}'")
        for option in command.options:
            takes = {"file": " -r -F", "value": " -x", "nothing": ""}[option.takes]
            takes = f" -x -a '{' '.join(option.choices)}'" if option.choices else takes
            for flag in option.flags:
                lines.append(f"{there} -l {flag.lstrip('-')}{takes} -d '{_quiet(option.help)}'")
    return "\n".join([*lines, ""])


def _quiet(text: str) -> str:
    """Without characters that mean something to a shell."""
    return "".join(c for c in text if c not in "'\"`$\\[]:").rstrip(".")
