// Rules for the words of comments and commit subjects. Their numbers of offences may only fall: tools/word-ratchet.json holds today's.
import type { Offence } from "./offence.ts";

/** A comment: a block, or line comments that follow each other. */
interface Comment {
  readonly line: number;
  readonly text: string;
}

/** Words that begin a clause in place of the noun or verb that a comment should begin with. */
const CLAUSE_WORDS =
  "What|Who|Whoever|Whom|Whose|Whether|Where|Wherever|Which|Why|How|That|Of|As|So|For|In|Behind|Beside|Nothing|Nobody|Somebody";

const COMMENT_OPENING = new RegExp(`^(?:${CLAUSE_WORDS})\\b`);
const RETURNS_OPENING = new RegExp(`@returns? (?:${CLAUSE_WORDS})\\b`, "i");

/** Old or vague words, each with what to write. */
const WORDS_TO_AVOID: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:whoever|nobody|somebody)\b/i, "the caller, process, server, user or model that is meant"],
  [/\banew\b/i, "again"],
  [/\bfor ever\b/i, "permanently"],
  [/\bin vain\b/i, "without effect"],
  [/\bat once\b/i, "immediately, or concurrently"],
  [/\b(?:thereby|notwithstanding|lest)\b/i, "because, despite, so that"],
  [/\bheed(?:s|ed|ing)?\b/i, "follow, read or ignore"],
  [/\b(?:tells?|told)\b/i, "report, return, show, log or print"],
  [/\b(?:take|takes|taken|took) (?:up|back)\b/i, "resume, open or undo"],
  [/\b(?:go|goes|gone|went) on with\b/i, "continue"],
  [/\b(?:go|goes|went) by\b/i, "use, or depend on"],
  [/\b(?:give|gives|given|gave) up\b/i, "stop, or fail"],
  [/\b(?:come|comes|came) to\b/i, "result in, or reach"],
  [/\b(?:look|looks|looked) at\b/i, "read, or check"],
  [/\b(?:see|sees|saw) to\b/i, "ensure"],
  [/\b(?:speak|speaks|spoke) with\b/i, "connect to, or call"],
  [/\b(?:keep|keeps|kept) from\b/i, "prevent"],
  [/\b(?:stand|stands|stood)\b/i, "is, or is stored"],
  [/\b(?:lie|lies|lay)\b/i, "is, or is stored"],
  [/\b(?:let|lets)\b/i, "allow"],
  [/\b(?:want|wants|wanted)\b/i, "request, or need"],
];

/** Verbs that name a change of code. */
const COMMIT_VERBS = new Set(
  (
    "Add Allow Apply Ask Await Bind Bound Cache Call Change Check Clarify Clear Close Combine Commit Compile Compute Convert Copy Count Create Declare Delete Deny Deprecate Describe Detect " +
    "Disable Document Drop Enable Encode Enforce Escape Explain Export Expose Extend Extract Find Fix Format Generate Give Group Handle Hide Ignore Import " +
    "Improve Include Inline Install Keep Kill List Limit Load Lock Log Map Mark Measure Merge Move Name Normalise Omit Open Parse Pass Pin Print Protect Publish Raise " +
    "Read Rebuild Record Redact Reduce Refactor Refuse Regenerate Reject Release Remove Rename Render Reorder Replace Report Require Reserve Reset Resolve " +
    "Restore Restrict Retry Return Revert Rewrite Run Sample Save Search Send Separate Settle Share Show Shorten Simplify Skip Sort Speed Split Start Stop Store Strip Support Swap Switch " +
    "Test Tighten Track Translate Trim Truncate Type Unify Update Upgrade Upload Use Validate Verify Warn Wrap Write"
  ).split(" "),
);

/** Returns the offences of a file's comments against the rules `comment-opening` and `words-to-avoid`. */
export function wordOffencesIn(text: string, file: string): readonly Offence[] {
  const offences: Offence[] = [];
  for (const comment of commentsIn(text)) {
    const report = (rule: string, message: string): void => void offences.push({ rule, file, line: comment.line, message });
    const opening = COMMENT_OPENING.exec(comment.text) ?? RETURNS_OPENING.exec(comment.text);
    if (opening !== null)
      report(
        "comment-opening",
        `"${opening[0]} …" begins with a clause: begin with the noun that it explains, or with "Returns", "Holds", "Reads"`,
      );
    for (const [pattern, instead] of WORDS_TO_AVOID) {
      const found = pattern.exec(comment.text);
      if (found !== null) report("words-to-avoid", `"${found[0]}": write ${instead}`);
    }
  }
  return offences;
}

/** Returns the offences of commit subjects against the rule `commit-opening`. The line of an offence is that of the log. */
export function subjectOffencesIn(subjects: readonly string[]): readonly Offence[] {
  return subjects.flatMap((subject, index): Offence[] => {
    const isMerge = subject.startsWith("Merge ") || subject.startsWith('Revert "');
    if (isMerge || COMMIT_VERBS.has(subject.split(" ", 1)[0] ?? "")) return [];
    const message = `"${subject}" does not begin with a verb for a change: begin with Add, Fix, Move, Rename, Remove, Document or Test, and name the place`;
    return [{ rule: "commit-opening", file: "git log", line: index + 1, message }];
  });
}

/** Returns the comments that have lines of their own. */
function commentsIn(text: string): readonly Comment[] {
  const comments: { line: number; text: string }[] = [];
  let isBlock = false;
  let isFollowing = false;
  text.split("\n").forEach((line, index) => {
    const opening = isBlock ? undefined : /^\s*(\/\*\*?|\/\/)\s*/.exec(line);
    if (isBlock || opening?.[1] === "//") {
      const words = line.replace(/^\s*(\/\/|\*(?!\/))?\s*/, "").replace(/\s*\*\/.*$/, "");
      const last = comments.at(-1);
      if ((isBlock || isFollowing) && last !== undefined) last.text = `${last.text} ${words}`.trim();
      else comments.push({ line: index + 1, text: words });
    } else if (opening) comments.push({ line: index + 1, text: line.slice(opening[0].length).replace(/\s*\*\/.*$/, "") });
    isFollowing = opening?.[1] === "//";
    if (isBlock || (opening && !isFollowing)) isBlock = !line.includes("*/");
  });
  return comments;
}
