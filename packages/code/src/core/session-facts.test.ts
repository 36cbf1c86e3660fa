import { expect, it } from "vitest";
import { sessionFacts } from "./session-facts.ts";

it("tells date, system and folders, and that there is no git", () => {
  const now = new Date(2026, 10, 7, 12).getTime();
  const facts = sessionFacts({ cwd: "/nowhere/a", project: "/nowhere", folders: ["/shared"], environment: { SHELL: "/bin/zsh" }, now });
  expect(facts.split("\n")).toEqual([
    "At the start of this session:",
    "- Date: 2026-11-07 (Saturday)",
    expect.stringMatching(/^- System: \w+ .+; the person's shell is zsh$/),
    "- Folder: /nowhere/a, in the repository /nowhere",
    "- Other folders that you may use: /shared",
    "- Git: not a repository",
  ]);
});
