import { type EffortLevel, PERMISSION_MODES, type PermissionMode } from "@keelson/protocol";
import type { KnownModel } from "../core/known-models.ts";
import { MODE_WORDS } from "../core/mode-words.ts";
import { createListPicker } from "../pickers/list-picker.ts";
import { createModelPicker, describeModel } from "../pickers/model-picker.ts";
import { printableLine } from "../text/printable.ts";
import type { Prompt, SlashCommand, SlashOutput, Suggestion } from "./slash-command.ts";

export interface TermCommandsOptions {
  /** The model that is used now. */
  model(): string;
  /** The models of the price table. */
  known(): readonly KnownModel[];
  /** The models that the vendors list. */
  listed(): Promise<readonly KnownModel[]>;
  /** The levels of effort that a model takes. Empty: none. */
  effortsOf(model: string): readonly EffortLevel[];
}

/** The word for the effort that the session was started with. */
const OWN_EFFORT = "default";
const MAX_LISTED = 30;

/** The commands that change the model, the effort and the permission mode. */
export function termCommands({ model: currentModel, known, listed, effortsOf }: TermCommandsOptions): readonly SlashCommand[] {
  return [
    {
      name: "model",
      argumentHint: "[provider/id]",
      description: "change the model, from the next turn on",
      group: "agent",
      complete: async (argument) => fitting(known().map(modelSuggestion), argument),
      async execute(name, prompt) {
        if (name !== "") return prompt.changeModel(name);
        const { choose, model } = prompt;
        if (choose === undefined) return [`model: ${printableLine(model)}`, ...modelLines(known()), "/model provider/id changes it"];
        const chosen = await choose<string>((opened) => createModelPicker({ ...opened, current: model, known: known(), listed: listed() }));
        if (chosen !== undefined && chosen !== model) prompt.changeModel(chosen);
      },
    },
    {
      name: "effort",
      argumentHint: "[level]",
      description: "change how much the model thinks, from the next turn on",
      group: "agent",
      complete: async (argument) =>
        fitting(
          [...effortsOf(currentModel()), OWN_EFFORT].map((value) => ({ value })),
          argument,
        ),
      execute: (argument, prompt) => changeEffort(argument.toLowerCase(), prompt, effortsOf(prompt.model)),
    },
    {
      name: "mode",
      argumentHint: "[mode]",
      description: "change what runs without asking (also Shift-Tab)",
      group: "agent",
      complete: async (argument) =>
        fitting(
          PERMISSION_MODES.map((value) => ({ value, description: MODE_WORDS[value] })),
          argument,
        ),
      execute: (argument, prompt) => changeMode(argument.toLowerCase(), prompt),
    },
  ];
}

async function changeEffort(argument: string, prompt: Prompt, levels: readonly EffortLevel[]): Promise<SlashOutput> {
  const { effort, choose, style, model } = prompt;
  if (levels.length === 0) return [style.yellow(`${printableLine(model)} has no effort levels`)];
  const read = (word: string): EffortLevel | typeof OWN_EFFORT | undefined =>
    word === OWN_EFFORT ? word : levels.find((level) => level === word);
  const words = `one of ${[...levels, OWN_EFFORT].join(", ")}`;
  let chosen = read(argument);
  if (argument !== "" && chosen === undefined) return [style.yellow(`"${printableLine(argument)}" is not an effort level: use ${words}`)];
  if (argument === "") {
    if (choose === undefined) return [`effort: ${effort ?? OWN_EFFORT}; /effort changes it: ${words}`];
    chosen = await choose<EffortLevel | typeof OWN_EFFORT>((opened) =>
      createListPicker<EffortLevel | typeof OWN_EFFORT>({
        ...opened,
        title: "effort",
        initial: effort ?? OWN_EFFORT,
        choices: [
          ...levels.map((value) => ({ value, label: value })),
          { value: OWN_EFFORT, label: OWN_EFFORT, description: "the effort that the session was started with" },
        ],
      }),
    );
  }
  if (chosen !== undefined) prompt.changeEffort(chosen === OWN_EFFORT ? undefined : chosen);
  return undefined;
}

async function changeMode(argument: string, prompt: Prompt): Promise<SlashOutput> {
  const { mode, choose, style } = prompt;
  const [word = "", confirmed = ""] = argument.split(/\s+/);
  const named = PERMISSION_MODES.find((one) => one === word);
  if (word !== "" && named === undefined)
    return [style.yellow(`"${printableLine(word)}" is no permission mode: write one of ${PERMISSION_MODES.join(", ")}`)];
  if (named === undefined && choose === undefined)
    return [`mode: ${mode}`, ...PERMISSION_MODES.map((one) => `  ${one}: ${MODE_WORDS[one]}`), "/mode <mode> changes it"];
  const chosen =
    named ??
    (await choose?.<PermissionMode>((opened) =>
      createListPicker<PermissionMode>({ ...opened, title: "mode", initial: mode, choices: MODE_CHOICES }),
    ));
  if (chosen === undefined || chosen === mode) return undefined;
  if (chosen === "bypass-all" && confirmed !== "yes") {
    if (choose === undefined) return [style.yellow(`${BYPASS_WARNING} To have that, write: /mode bypass-all yes`)];
    const isSure = await choose<boolean>((opened) =>
      createListPicker<boolean>({ ...opened, title: "run everything unasked?", choices: BYPASS_CHOICES }),
    );
    if (isSure !== true) return undefined;
  }
  prompt.changeMode(chosen);
  return undefined;
}

const BYPASS_WARNING = "In bypass-all every command and every edit runs unasked that no rule denies.";
const MODE_CHOICES = PERMISSION_MODES.map((value) => ({ value, label: value, description: MODE_WORDS[value] }));
const BYPASS_CHOICES = [
  { value: false, label: "no", description: "the mode stays" },
  { value: true, label: "yes, bypass-all", description: BYPASS_WARNING },
];

function modelSuggestion(model: KnownModel): Suggestion {
  return { value: model.reference, description: describeModel(model) };
}

function modelLines(models: readonly KnownModel[]): readonly string[] {
  const lines = models.slice(0, MAX_LISTED).map((model) => `  ${printableLine(model.reference)}: ${describeModel(model)}`);
  return models.length > MAX_LISTED ? [...lines, `  … ${models.length - MAX_LISTED} more`] : lines;
}

/** The suggestions that hold what was typed; those that begin so come first. */
function fitting(suggestions: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const given = typed.toLowerCase();
  const holding = suggestions.filter(({ value }) => value.toLowerCase().includes(given));
  const begins = (one: Suggestion): boolean => one.value.toLowerCase().startsWith(given);
  return [...holding.filter(begins), ...holding.filter((one) => !begins(one))];
}
