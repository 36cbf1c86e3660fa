import type { ApprovalRequest, AskedQuestion, Decision } from "@keelson/protocol";
import { parseJson } from "keelson/tools";
import { printableLine } from "../text/printable.ts";
import { questionLines } from "../render/question-lines.ts";
import { fieldHint, formFields, formValue, readField, type FormField, type ReadField } from "./answer-form.ts";
import type { QuestionDialog, QuestionDialogOptions } from "./question-steps.ts";

type Step =
  | { readonly at: "question" | "why" | "json" }
  /** `fields[values.length]` is in the line. */
  | { readonly at: "form"; readonly fields: readonly FormField[]; readonly values: readonly ReadField[] };

/** What a tool asks while it runs, from showing it to its answer: a yes, or a form that is filled in field by field. */
export function createAskedDialog(
  request: ApprovalRequest & { readonly asked: AskedQuestion },
  { screen, style, reading, input, decide }: QuestionDialogOptions,
): QuestionDialog {
  const { schema } = request.asked;
  const prompt = schema === undefined ? "[y]es [n]o [w]hy not a[b]ort › " : "[a]nswer [n]o [w]hy not a[b]ort › ";
  let step: Step = { at: "question" };
  const warn = (text: string): void => screen.block([style.yellow(`  ${text}`)]);
  const told = (decision: Decision): void => decide(decision, "session");

  function askAgain(): void {
    step = { at: "question" };
    input.answer(prompt, "");
  }

  function fill(fields: readonly FormField[], values: readonly ReadField[]): void {
    const field = fields[values.length];
    if (field === undefined) return told({ type: "supply", output: formValue(fields, values) });
    step = { at: "form", fields, values };
    input.answer(`${printableLine(field.label)} (${printableLine(fieldHint(field))}) › `, field.start);
  }

  function begin(): void {
    const fields = schema && formFields(schema);
    if (fields !== undefined) return fill(fields, []);
    step = { at: "json" };
    screen.block([style.dim(`  ${printableLine(JSON.stringify(schema))}`)]);
    input.answer("answer as JSON › ", "");
  }

  function answerField(line: string, fields: readonly FormField[], values: readonly ReadField[]): void {
    const read = readField(fields[values.length] as FormField, line);
    if (!("problem" in read)) return fill(fields, [...values, read]);
    warn(`answer with ${printableLine(read.problem)}; Esc goes back to the question`);
    input.answer(`${printableLine((fields[values.length] as FormField).label)} › `, line);
  }

  function answerJson(line: string): void {
    if (line.trim() === "") return askAgain();
    try {
      told({ type: "supply", output: parseJson(line) });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      warn(`${error.message}; an empty line goes back to the question`);
      input.answer("answer as JSON › ", line);
    }
  }

  function answerQuestion(line: string): void {
    const given = line.trim().toLowerCase();
    if (schema === undefined && (given === "y" || given === "yes")) return told({ type: "allow" });
    if (schema !== undefined && (given === "a" || given === "answer")) return begin();
    if (given === "n" || given === "no") return told({ type: "deny" });
    if (given === "b" || given === "abort") return told({ type: "abort" });
    if (given === "w" || given === "why") {
      step = { at: "why" };
      return input.answer("why not › ", "");
    }
    const first = schema === undefined ? "y (yes)" : "a (answer)";
    const kept = given === "" ? "" : "; what you typed is kept for your next message";
    warn(`answer with one of ${first}, n (no), w (why), b (abort), and Enter${kept}`);
    input.question(prompt, given === "" ? undefined : line);
  }

  return {
    open() {
      screen.block(["", ...questionLines(request, { style, columns: screen.columns, ...reading })]);
      input.question(prompt);
    },
    answer(line) {
      if (step.at === "question") answerQuestion(line);
      else if (step.at === "form") answerField(line, step.fields, step.values);
      else if (step.at === "json") answerJson(line);
      else if (line.trim() === "") askAgain();
      else told({ type: "deny", reason: line.trim() });
    },
    back() {
      if (step.at === "question") return false;
      askAgain();
      return true;
    },
  };
}
