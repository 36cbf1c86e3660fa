import type { ModelRegistry } from "keelson/providers";
import type { CommandHost } from "../core/command-host.ts";
import { modelsOfTable, modelsOfVendors } from "../core/known-models.ts";
import { listSessions } from "../core/listed-session.ts";
import type { Stores } from "../core/stores.ts";
import { KEYS } from "../editor/keys.ts";
import { filesOfOthers } from "../settings/files-of-others.ts";
import { shownFile } from "../settings/load-settings.ts";
import { userHome } from "../settings/settings-places.ts";
import { foundSkills } from "../skills/project-skills.ts";
import { programCommands } from "../slash-commands/program-commands.ts";
import { projectCommands } from "../slash-commands/project-commands.ts";
import { helpCommand, quitCommand, whyCommand } from "../slash-commands/prompt-commands.ts";
import { sessionCommands } from "../slash-commands/session-commands.ts";
import type { SlashCommand, SlashOutput } from "../slash-commands/slash-command.ts";
import { switchCommands } from "../slash-commands/switch-commands.ts";
import { termCommands } from "../slash-commands/term-commands.ts";
import { undoCommands } from "../slash-commands/undo-commands.ts";
import { foundInstructions } from "../trust/found-instructions.ts";
import { listHooks } from "../trust/listed-hooks.ts";
import type { Conversation } from "./conversation.ts";
import type { CurrentSession } from "./current-session.ts";
import { compactSession, sessionFactLines, trustLeftOut } from "./session-answers.ts";
import type { SessionPlanner } from "./session-plan.ts";

export interface ConversationCommandsOptions {
  readonly current: CurrentSession;
  readonly conversation: Pick<Conversation, "replaceSession">;
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly planner: SessionPlanner;
  readonly host: Pick<CommandHost, "environment" | "command" | "now">;
  /** Called when another session is open. */
  replaced(): void;
  /** Opens a file in the person's editor. @returns lines to show */
  editFile(path: string): Promise<readonly string[]>;
  /** Shows a problem that keeps nothing from working. */
  warn(text: string): void;
  /** The lines of the agent's list of tasks. Absent: it keeps none. */
  readonly tasks?: ((columns: number) => readonly string[]) | undefined;
  /** The lines of an output that was folded; the last one without a number. Absent: nothing is folded. */
  readonly openOutput?: ((number?: number) => readonly string[] | undefined) | undefined;
}

/** The time that vendors have to list their models. */
const LIST_MS = 8_000;

/** The commands of the program for a conversation, in the order in which `/help` lists those of a group. */
export function conversationCommands(options: ConversationCommandsOptions): readonly SlashCommand[] {
  const { current, models, planner, stores, host, editFile, warn, tasks, openOutput } = options;
  const { environment, command, now } = host;
  const person = userHome(environment);
  const { home } = stores;
  const cwd = (): string => current.session.plan.launch.cwd;
  const trust = (): CurrentSession["session"]["plan"]["trust"] => current.session.plan.trust;
  const folders = (): { readonly home: string; readonly userHome: string; readonly project: string } => ({
    home: home.path,
    userHome: person,
    project: trust().project,
  });
  const shown = (file: string): string => shownFile(file, trust().project, person);
  const sessions = current.session.runner.sessions;

  return [
    helpCommand({ keys: KEYS, shownFile: shown }),
    ...switchCommands({
      ...switching(options),
      sessions: () => listSessions(sessions, cwd()),
      everywhere: () => listSessions(sessions),
      current: () => ({ folder: cwd(), id: current.session.id }),
      userHome: person,
      now,
    }),
    ...termCommands({
      model: () => current.session.terms.model,
      known: () => modelsOfTable(models),
      listed: () =>
        modelsOfVendors(models, {
          signal: AbortSignal.timeout(LIST_MS),
          onProblem: (provider, error) => warn(`the models of ${provider} cannot be listed: ${String(error)}`),
        }),
      effortsOf: (model) => current.session.effortsOf(model),
    }),
    ...sessionCommands({
      facts: (topic, view) => sessionFactLines(topic, current.session, { ...view, home, command }),
      trustLeftOut: (view) => trustLeftOut(current.session, { ...view, home, now }),
      compact: (keep) => compactSession(current.session, keep),
    }),
    whyCommand,
    ...undoCommands({
      history: () => current.session.place.history.project(),
      session: () => current.session.id,
      onFilesChanged: (paths, action) => current.session.noteChanges(paths, action),
    }),
    ...projectCommands({
      command,
      shownFile: shown,
      editFile,
      servers: () => current.session.place.servers.states(),
      instructions: async () => [
        ...(await foundInstructions({ cwd: cwd(), home: home.path, userHome: person }, trust())),
        ...(await filesOfOthers(folders())).filter(({ file }) => /(?:\.md|rules)$/.test(file)),
      ],
      skills: () => foundSkills(folders(), trust()),
      hooks: () => listHooks({ home: home.path, environment, trust: trust() }),
    }),
    ...programCommands({ findings: (view) => planner.findings(cwd(), view), jobs: () => current.jobs(), tasks, openOutput }),
    quitCommand,
  ];
}

/** Leaves the session for another one, and says where the former one is. */
function switching({ current, conversation, host, replaced }: ConversationCommandsOptions): {
  begin(): Promise<SlashOutput>;
  open(id: string): Promise<SlashOutput>;
  fork(): Promise<SlashOutput>;
} {
  const leave = async (act: () => Promise<boolean>): Promise<readonly string[]> => {
    const { id } = current.session;
    await conversation.replaceSession(async () => {
      const resumes = await act();
      replaced();
      return resumes;
    });
    return id === undefined || id === current.session.id
      ? []
      : [`the previous session is kept; continue it with: ${host.command} -r ${id}`];
  };
  return {
    begin: () => leave(() => current.begin().then(() => false)),
    open: (id) => leave(() => current.go(id)),
    fork: () => leave(() => current.fork().then(() => false)),
  };
}
