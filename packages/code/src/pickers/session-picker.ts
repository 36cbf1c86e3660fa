import type { ListedSession } from "../core/listed-session.ts";
import { formatAge, formatCost } from "../render/figures.ts";
import { fittingFacts } from "../render/fitting-facts.ts";
import { printableLine } from "../text/printable.ts";
import type { OpenedPicker } from "./choose-from.ts";
import { type Choice, createListPicker, type Picker } from "./list-picker.ts";

export interface SessionPickerOptions extends OpenedPicker<string> {
  /** The folder whose sessions are shown first. */
  readonly folder: string;
  /** The sessions of this folder, newest first. */
  readonly sessions: readonly ListedSession[];
  /** Reads the sessions of every folder. */
  everywhere(): Promise<readonly ListedSession[]>;
  /** The session that is open. Absent: none. */
  readonly current?: string | undefined;
  /** The home folder of the person, which is shown as `~`. */
  readonly userHome: string;
  /** Unix ms. */
  now(): number;
}

/** Has a person choose a session by its first words, with age, turns, cost, branch and folder of each. All of these are searched. */
export function createSessionPicker(options: SessionPickerOptions): Picker {
  const { folder, sessions, everywhere, style, onDone, changed } = options;
  let all: readonly ListedSession[] | undefined;
  let shown: "here" | "everywhere" = "here";
  let problem = "";
  const title = (): string => {
    if (shown === "here") return problem === "" ? "session" : `session (other folders cannot be read: ${problem})`;
    return all === undefined ? "session (reading …)" : "session of any folder";
  };
  const show = (): void => {
    const listed = shown === "here" || all === undefined ? sessions : all;
    picker.setChoices(
      listed.map((session) => choiceOf(session, { ...options, folder: shown === "here" ? folder : undefined })),
      title(),
    );
    changed();
  };
  const picker = createListPicker<string>({
    title: title(),
    choices: sessions.map((session) => choiceOf(session, options)),
    style,
    empty: "there are no sessions of this folder; Tab shows those of every folder",
    onSwitch: {
      hint: "this folder/all folders",
      act() {
        shown = shown === "here" ? "everywhere" : "here";
        show();
        if (shown === "here" || all !== undefined) return;
        everywhere().then(
          (read) => {
            all = read;
            show();
          },
          (error: unknown) => {
            problem = printableLine(error instanceof Error ? error.message : String(error));
            shown = "here";
            show();
          },
        );
      },
    },
    onDone,
  });
  return picker;
}

type ChoiceOptions = Pick<SessionPickerOptions, "current" | "userHome" | "now"> & { readonly folder: string | undefined };

function choiceOf(session: ListedSession, options: ChoiceOptions): Choice<string> {
  const { id, firstWords = "(no message yet)", tags, branch, folder, damaged } = session;
  const isWaiting = isWaitingSession(session);
  return {
    value: id,
    label: printableLine(`${titleOf(session)}${firstWords}`),
    words: [id, ...tags, branch ?? "", folder ?? "", isWaiting ? "waits" : "", damaged === undefined ? "" : "damaged"].join(" "),
    mark: damaged === undefined ? (isWaiting ? "?" : id === options.current ? "●" : undefined) : "✗",
    details: (columns) => detailsOf(session, options, columns),
  };
}

/** Returns the name before the first words. A copy without a name of its own is named after the id of its original. */
function titleOf({ name, parent }: Pick<ListedSession, "name" | "parent">): string {
  if (name === undefined) return "";
  return name === `${parent?.session} (fork)` ? "(copy) " : `${name}: `;
}

/** True if a session waits for a person. */
export function isWaitingSession({ state, reason = "" }: Pick<ListedSession, "state" | "reason">): boolean {
  return state === "suspended" && reason.startsWith("awaiting-");
}

function detailsOf(session: ListedSession, { folder: here, current, userHome, now }: ChoiceOptions, columns: number): string {
  const { id, updatedAt, turnCount, cost, branch, folder, worktree, damaged } = session;
  const isWaiting = isWaitingSession(session);
  const state = damaged === undefined ? (isWaiting ? "waits for an answer" : id === current ? "open" : "") : "damaged";
  return fittingFacts(
    [
      ...(state === "" ? [] : [{ text: state, short: state.split(" ")[0] ?? state, rank: 0 }]),
      { text: formatAge(now() - updatedAt), rank: 1 },
      { text: turnCount === 1 ? "1 turn" : `${turnCount} turns`, rank: 4 },
      { text: formatCost(cost), rank: 3 },
      ...(branch === undefined ? [] : [{ text: printableLine(branch), rank: 2 }]),
      ...(worktree === undefined ? [] : [{ text: `worktree ${printableLine(worktree)}`, rank: 5 }]),
      ...(folder === undefined || folder === here ? [] : [{ text: shownFolder(folder, userHome), rank: 2 }]),
      { text: id.slice(0, 8), rank: 6 },
    ],
    { columns },
  ).join(" · ");
}

function shownFolder(folder: string, userHome: string): string {
  const shown = folder === userHome || folder.startsWith(`${userHome}/`) ? `~${folder.slice(userHome.length)}` : folder;
  return printableLine(shown);
}
