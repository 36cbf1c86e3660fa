import type { OmissionReason, PlannedFiles, SearchOmission, ToolCall } from "@keelson/protocol";
import { shownName } from "./shown-name.ts";
import { shownPath } from "./call-files.ts";

const MAX_NAMED = 5;

/** Collects what a search left out, and says it with the reason and the remedy. */
export interface OmissionNotes {
  readonly onOmitted: (omission: SearchOmission) => void;
  /** False for a file that the rules of the run deny or ask about, or that is sensitive. */
  readonly mayRead: (path: string) => boolean;
  /** One line for each reason. */
  lines(): string[];
}

interface Wording {
  readonly before: string;
  readonly after: string;
}

const WORDINGS: { readonly [reason in OmissionReason]: Wording } = {
  "ignored": { before: "Left out, because git ignores them", after: "Give one as path to search it." },
  "left-out": { before: "Left out, because they hold dependencies", after: "Give one as path to search it." },
  "binary": {
    before: "Binary files that match or may match, of which no lines are shown",
    after: "Search one with a command, such as strings.",
  },
  "too-large": {
    before: "Not searched to the end, because they are too large",
    after: "Search one with a command, or give a file as path.",
  },
  "unreadable": { before: "Not read", after: "Change the permissions, or look at them with a command." },
  "encoding": {
    before: "Searched for ASCII only, because the encoding is not recognised",
    after: "Convert one to UTF-8 with a command to search it for other letters.",
  },
  "denied": { before: "Left out, since the permission rules guard them", after: "Name one as path to ask for it." },
};

export function createOmissionNotes(files: PlannedFiles, mayRead: ToolCall["mayRead"]): OmissionNotes {
  const omitted = new Map<OmissionReason | string, Map<string, SearchOmission>>();
  return {
    onOmitted(omission) {
      const { reason, message, path } = omission;
      // The policy of an environment cannot be lifted by naming a file.
      const group = (reason === "denied" || reason === "left-out") && message !== undefined ? message : reason;
      const paths = omitted.get(group) ?? new Map<string, SearchOmission>();
      omitted.set(group, paths.set(path, omission));
    },
    mayRead: (path) => mayRead?.(shownPath(files, path)) !== false,
    lines: () => [...omitted].map(([group, paths]) => line(files, group, [...paths.values()])),
  };
}

function line(files: PlannedFiles, group: string, omissions: readonly SearchOmission[]): string {
  const names = omissions.slice(0, MAX_NAMED).map(({ path, isDir, reason, message }) => {
    const name = shownName(`${shownPath(files, path)}${isDir ? "/" : ""}`);
    return (reason === "unreadable" || reason === "too-large") && message !== undefined ? `${name} (${message.replace(/\.$/, "")})` : name;
  });
  const more = omissions.length > MAX_NAMED ? ` and ${omissions.length - MAX_NAMED} more` : "";
  const wording = isReason(group) ? WORDINGS[group] : { before: "Left out", after: group };
  return `[${wording.before}: ${names.join(", ")}${more}. ${wording.after}]`;
}

function isReason(group: string): group is OmissionReason {
  return Object.hasOwn(WORDINGS, group);
}
