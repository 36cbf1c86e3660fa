import type { ApprovalRequest, Decision } from "@keelson/protocol";
import { PLAN_TOOL } from "../core/plan-answer.ts";
import { parseRule } from "../options/parse-rule.ts";
import { UsageError } from "../options/usage-error.ts";
import { alwaysLines } from "../render/always-lines.ts";
import { printableLine } from "../text/printable.ts";
import { questionLines } from "../render/question-lines.ts";
import type { ToolViewOptions } from "../render/tool-view.ts";
import { whyLines } from "../render/why-lines.ts";
import { createAskedDialog } from "./asked-dialog.ts";
import { createPlanDialog } from "./plan-dialog.ts";
import { questionPrompt, readAmount, readAnswer, readEdited } from "./approval-question.ts";
import type { AlwaysHolds, QuestionDialog, QuestionDialogOptions } from "./question-steps.ts";

type Step =
  | { readonly at: "question" | "edit" | "amount" }
  | { readonly at: "words"; readonly of: "deny" | "fail" | "supply" }
  | { readonly at: "choose"; readonly holds: AlwaysHolds }
  /** `rules[index]` is in the line; those before it are accepted. */
  | { readonly at: "rules"; readonly holds: AlwaysHolds; readonly rules: readonly string[]; readonly index: number };

const WORDS_PROMPTS = { deny: "why not › ", fail: "why it failed › ", supply: "its output › " };
const HOLDS: { readonly [H in AlwaysHolds]: string } = {
  session: "Allow from now on, in this session:",
  project: "Allow from now on, in this session and later ones in this project:",
};

export function createQuestionDialog(request: ApprovalRequest, options: QuestionDialogOptions): QuestionDialog {
  const { screen, style, input, decide } = options;
  const { asked } = request;
  if (asked !== undefined && request.operation === PLAN_TOOL) return createPlanDialog(request, options);
  if (asked !== undefined) return createAskedDialog({ ...request, asked }, options);
  const choices = request.always ?? [];
  let step: Step = { at: "question" };

  const warn = (text: string): void => screen.block([style.yellow(`  ${text}`)]);
  const view = (): ToolViewOptions => ({ style, columns: screen.columns, ...options.reading });

  function askAgain(): void {
    step = { at: "question" };
    input.answer(questionPrompt(request, screen.columns), "");
  }

  function choose(holds: AlwaysHolds): void {
    step = { at: "choose", holds };
    screen.block([`  ${HOLDS[holds]}`, ...alwaysLines(choices, view())]);
    const numbers = choices.length === 1 ? "[1]" : `[1-${choices.length}]`;
    input.answer(`${numbers} this [${holds === "session" ? "p]roject" : "s]ession"} [b]ack › `, "");
  }

  function answerChoice(line: string, holds: AlwaysHolds): void {
    const given = line.trim().toLowerCase();
    if (given === "" || given === "b" || given === "back") return askAgain();
    if (given === "p" || given === "project") return choose("project");
    if (given === "s" || given === "session") return choose("session");
    const chosen = /^\d$/.test(given) ? choices[Number(given) - 1] : undefined;
    if (chosen === undefined) return warn("answer with a number, p (for this project), s (for this session) or b (back), and Enter");
    editRule(holds, chosen.rules, 0);
  }

  function editRule(holds: AlwaysHolds, rules: readonly string[], index: number): void {
    const rule = rules[index];
    if (rule === undefined) return decide({ type: "allow-always", rules }, holds);
    // What is no line can't be edited in one; it is taken as it was shown.
    if (printableLine(rule) !== rule) return editRule(holds, rules, index + 1);
    step = { at: "rules", holds, rules, index };
    input.answer(rulePrompt(rules, index), rule);
  }

  function answerRule(line: string, { holds, rules, index }: Extract<Step, { readonly at: "rules" }>): void {
    if (line.trim() === "") return choose(holds);
    let accepted: string;
    try {
      accepted = parseRule(line, "allow").pattern;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      warn(`${error.message}. ${error.hint}`);
      return input.answer(rulePrompt(rules, index), line);
    }
    editRule(holds, rules.with(index, accepted), index + 1);
  }

  function answerEdit(line: string): void {
    if (line.trim() === "") return askAgain();
    let edited: Decision;
    try {
      edited = readEdited(line);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      warn(`${error.message}; an empty line goes back to the question`);
      return edit(line);
    }
    decide(edited, "session");
  }

  function askAmount(text: string): void {
    step = { at: "amount" };
    input.answer(request.budget?.unit === "tokens" ? "tokens to add › " : "dollars to add › ", text);
  }

  function answerAmount(line: string): void {
    if (line.trim() === "" || request.budget === undefined) return askAgain();
    let decision: Decision;
    try {
      decision = readAmount(request.budget, line);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      warn(`${error.message}; an empty line goes back to the question`);
      return askAmount(line);
    }
    decide(decision, "session");
  }

  function edit(text: string): void {
    step = { at: "edit" };
    input.answer("arguments as JSON › ", text);
  }

  function answerQuestion(line: string): void {
    if (line.trim() === "/why") {
      screen.block(whyLines(request));
      return input.question(questionPrompt(request, screen.columns));
    }
    const read = readAnswer(request, line);
    switch (read.type) {
      case "decided":
        return decide(read.decision, "session");
      case "edit":
        return edit(JSON.stringify(request.input));
      case "amount":
        return askAmount("");
      case "always":
        return choose("session");
      case "words":
        step = { at: "words", of: read.of };
        return input.answer(WORDS_PROMPTS[read.of], "");
      case "unclear": {
        const kept = line.trim() === "" ? "" : "; what you typed is kept for your next message";
        warn(`${read.hint}${kept}`);
        return input.question(questionPrompt(request, screen.columns), line.trim() === "" ? undefined : line);
      }
    }
  }

  return {
    open() {
      screen.block(["", ...questionLines(request, view())]);
      input.question(questionPrompt(request, screen.columns));
    },
    answer(line) {
      switch (step.at) {
        case "question":
          return answerQuestion(line);
        case "edit":
          return answerEdit(line);
        case "amount":
          return answerAmount(line);
        case "words": {
          const { of } = step;
          if (line.trim() === "") return askAgain();
          return decide(of === "supply" ? { type: of, output: line } : { type: of, reason: line.trim() }, "session");
        }
        case "choose":
          return answerChoice(line, step.holds);
        case "rules":
          return answerRule(line, step);
      }
    },
    back() {
      if (step.at === "question") return false;
      askAgain();
      return true;
    },
  };
}

function rulePrompt(rules: readonly string[], index: number): string {
  return rules.length === 1 ? "allow › " : `allow (${index + 1} of ${rules.length}) › `;
}
