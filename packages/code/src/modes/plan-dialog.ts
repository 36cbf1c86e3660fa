import type { ApprovalRequest } from "@keelson/protocol";
import { type PlanAnswer, planIn } from "../core/plan-answer.ts";
import { planLines } from "../render/plan-lines.ts";
import type { QuestionDialog, QuestionDialogOptions } from "./question-steps.ts";

/** `edit`: the plan is in the line. `words`: what is missing in it. */
type Step = "question" | "edit" | "words";

const CHOICES = "[y]es, yes and [a]llow edits, [e]dit, [n]o › ";
const SHORT_CHOICES = "[y/a/e/n] › ";
const EDITED = "your plan: ";
const OTHERWISE = "what should be planned otherwise › ";
const SHORT_OTHERWISE = "otherwise › ";
/** The columns that are left for the answer. */
const ANSWER_COLUMNS = 12;

/** The question of a plan, from showing it to its answer. The plan can be edited before it is accepted. */
export function createPlanDialog(
  request: Pick<ApprovalRequest, "input">,
  { screen, style, reading, input, decide }: QuestionDialogOptions,
): QuestionDialog {
  const presented = planIn(request.input);
  let plan = presented;
  let step: Step = "question";
  const warn = (text: string): void => screen.block([style.yellow(`  ${text}`)]);
  const fitting = (words: string, short: string): string => (words.length + ANSWER_COLUMNS <= screen.columns ? words : short);
  const lead = (): string => (plan === presented ? "" : EDITED);
  const prompt = (): string => fitting(lead() + CHOICES, lead() + SHORT_CHOICES);

  function askAgain(): void {
    step = "question";
    input.answer(prompt(), "");
  }

  function tell(answer: PlanAnswer): void {
    decide({ type: "supply", output: answer }, "session");
  }

  function accept(decision: PlanAnswer["decision"]): void {
    tell({ decision, ...(plan !== presented && { plan }) });
  }

  function answerQuestion(line: string): void {
    const given = line.trim().toLowerCase();
    if (given === "y" || given === "yes") return accept("accept");
    if (given === "a" || given === "allow") return accept("accept-edits");
    if (given === "e" || given === "edit") {
      step = "edit";
      return input.answer("plan › ", plan);
    }
    if (given === "n" || given === "no") {
      step = "words";
      return input.answer(fitting(OTHERWISE, SHORT_OTHERWISE), "");
    }
    const kept = given === "" ? "" : "; what you typed is kept for your next message";
    warn(`answer with one of y (yes), a (yes, and edits of files need no question), e (edit the plan), n (no), and Enter${kept}`);
    input.question(prompt(), given === "" ? undefined : line);
  }

  function answerEdit(text: string): void {
    if (text.trim() !== "" && text.trim() !== plan.trim()) {
      plan = text;
      screen.block(["", ...planLines(plan, { style, columns: screen.columns, reading })]);
    }
    askAgain();
  }

  return {
    open() {
      const title = `${style.yellow("?")} ${style.bold("The agent presents a plan:")}`;
      screen.block(["", title, ...planLines(plan, { style, columns: screen.columns, reading })]);
      input.question(prompt());
    },
    answer(line) {
      if (step === "question") return answerQuestion(line);
      if (step === "edit") return answerEdit(line);
      if (line.trim() === "") return askAgain();
      tell({ decision: "keep-planning", words: line.trim() });
    },
    back() {
      if (step === "question") return false;
      askAgain();
      return true;
    },
  };
}
