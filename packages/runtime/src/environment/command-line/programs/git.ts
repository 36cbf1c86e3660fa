import { gitChanging } from "./git-changing.ts";
import { gitLooking } from "./git-looking.ts";
import type { ProgramEntry } from "./program-entry.ts";

/**
 * Git and its subcommands. Its other options point it to another repository or configuration, or start a pager. A subcommand that is not
 * listed may be an alias or a program of any kind.
 */
export const gitPrograms: readonly ProgramEntry[] = [
  {
    names: "git",
    flags: "-P --literal-pathspecs --no-optional-locks --no-pager --no-replace-objects",
    values: { folder: "-C" },
    repository: true,
    subcommands: { ...gitLooking, ...gitChanging },
    alone: "--help --version -h -v",
  },
];
