import { describe, expect, it } from "vitest";
import { expandCommand, readMarkdownCommand } from "./markdown-command.ts";

describe("readMarkdownCommand", () => {
  it("reads description, hint and text, and names the fields that do nothing", () => {
    const text = "---\ndescription: Review a file\nargument-hint: <file>\nmodel: opus\nallowed-tools: Bash(git:*)\nodd: 1\n---\nReview $1.";
    expect(readMarkdownCommand(text, { name: "review", file: "/x/review.md" })).toEqual({
      name: "review",
      file: "/x/review.md",
      description: "Review a file",
      argumentHint: "<file>",
      text: "Review $1.",
      unused: [
        expect.stringContaining("model is not used"),
        expect.stringContaining("allowed-tools is no permission"),
        "the field odd is not known",
      ],
    });
    expect(readMarkdownCommand("# Fix the build\n\nDo it.", { name: "fix", file: "" }).description).toBe("Fix the build");
  });
});

describe("expandCommand", () => {
  it("puts arguments in their places, and behind the text if it has none", () => {
    expect(expandCommand("Fix $1 in $2, all: $ARGUMENTS", 'bug "my file" now')).toBe('Fix bug in my file, all: bug "my file" now');
    expect(expandCommand("$ARGUMENTS[0] and $ARGUMENTS[1]", "a b")).toBe("a and b");
    expect(expandCommand("Fix it.", "the bug")).toBe("Fix it.\n\nArguments: the bug");
    expect(expandCommand("Fix $1 and $9", "")).toBe("Fix  and ");
    expect(expandCommand("It costs $10 and $0, $ARGUMENTSX", "x")).toBe("It costs $10 and $0, $ARGUMENTSX\n\nArguments: x");
  });

  it("has the agent run commands and read files, so that permissions hold", () => {
    const message = expandCommand("Status: !`git log $1`\nSee @src/a.ts and @src/a.ts, not ada@example.com.", "main");
    expect(message).toBe(
      [
        "Status: `git log main`\nSee src/a.ts and src/a.ts, not ada@example.com.",
        "Before you begin, run these commands and use their output: `git log main`",
        "Read these files first, if they are there: src/a.ts",
      ].join("\n\n"),
    );
  });

  it("does not look again at what an argument brings", () => {
    const message = expandCommand("Do $1 and $2", "'$2 !`rm -rf .` @secret' x");
    expect(message).toBe("Do $2 !`rm -rf .` @secret and x");
  });
});
