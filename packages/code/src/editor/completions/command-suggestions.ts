import { fuzzyMatch } from "@earendil-works/pi-tui";
import type { SlashCommandTable } from "../../slash-commands/slash-command-table.ts";
import type { SlashCommand, Suggestion } from "../../slash-commands/slash-command.ts";
import type { CompletionSource } from "./completion-source.ts";

/** The penalty of a match in a description, which is longer than a name. */
const DESCRIPTION_PENALTY = 1_000;
const ALIAS_PENALTY = 100;
const NAME_START_BONUS = 500;

/** Completes commands of the prompt at the start of a message, and arguments of commands that offer them. */
export function createCommandSuggestions(table: Pick<SlashCommandTable, "commands" | "find">): CompletionSource {
  return {
    async complete({ above, before }, { signal }) {
      if (above.length > 0) return undefined;
      const name = /^\/(?<name>\S*)$/.exec(before)?.groups?.["name"];
      if (name !== undefined) return { prefix: before, suggestions: suggestCommands(table, name) };
      const { command = "", argument = "" } = /^\/(?<command>\S+)\s+(?<argument>.*)$/.exec(before)?.groups ?? {};
      const suggestions = await table.find(command)?.complete?.(argument);
      if (signal.aborted || suggestions === undefined || suggestions.length === 0) return undefined;
      return { prefix: argument, suggestions };
    },
  };
}

/** Returns the commands that match, best first. Without a name: all, in their order. */
export function suggestCommands({ commands, find }: Pick<SlashCommandTable, "commands" | "find">, name: string): readonly Suggestion[] {
  const exact = find(name);
  const alias = exact !== undefined && exact.name !== name ? [suggestionOf(exact, name)] : [];
  const ranked = commands
    .flatMap((command) => {
      const score = scoreOf(command, name);
      return score === undefined || (alias.length > 0 && command === exact) ? [] : [{ command, score }];
    })
    .toSorted((a, b) => a.score - b.score);
  return [...alias, ...ranked.map(({ command }) => suggestionOf(command, command.name))];
}

function scoreOf({ name, aliases = [], description }: SlashCommand, query: string): number | undefined {
  if (query === "") return 0;
  const start = name.toLowerCase().startsWith(query.toLowerCase()) ? -NAME_START_BONUS : 0;
  const scores = [
    { text: name, penalty: start },
    ...aliases.map((text) => ({ text, penalty: ALIAS_PENALTY })),
    // A description is long enough to match any letters that are spread over it.
    ...(description.toLowerCase().includes(query.toLowerCase()) ? [{ text: description, penalty: DESCRIPTION_PENALTY }] : []),
  ].flatMap(({ text, penalty }) => {
    const match = fuzzyMatch(query, text);
    return match.matches ? [match.score + penalty] : [];
  });
  return scores.length === 0 ? undefined : Math.min(...scores);
}

function suggestionOf({ argumentHint, description }: SlashCommand, name: string): Suggestion {
  return { value: `/${name} `, label: `/${name}${argumentHint === undefined ? "" : ` ${argumentHint}`}`, description };
}
