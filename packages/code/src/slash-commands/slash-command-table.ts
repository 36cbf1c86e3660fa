import type { SlashCommand } from "./slash-command.ts";

/** The commands of a prompt by their names. */
export interface SlashCommandTable {
  readonly commands: readonly SlashCommand[];
  /** Names are compared as they are written. */
  find(name: string): SlashCommand | undefined;
}

/**
 * Makes a table of commands. The first command of a name is used; a name goes before an alias.
 * @param onShadowed called for each command that is left out because its name is taken
 */
export function createSlashCommandTable(
  given: readonly SlashCommand[],
  onShadowed: (command: SlashCommand, by: SlashCommand) => void = () => {},
): SlashCommandTable {
  const byName = new Map<string, SlashCommand>();
  const commands: SlashCommand[] = [];
  for (const command of given) {
    const taken = byName.get(command.name);
    if (taken !== undefined) {
      onShadowed(command, taken);
      continue;
    }
    byName.set(command.name, command);
    commands.push(command);
  }
  const aliases = new Map<string, SlashCommand | undefined>();
  for (const command of commands)
    // An alias of two commands is used for neither.
    for (const alias of command.aliases ?? []) aliases.set(alias, aliases.has(alias) ? undefined : command);
  return { commands, find: (name) => byName.get(name) ?? aliases.get(name) };
}
