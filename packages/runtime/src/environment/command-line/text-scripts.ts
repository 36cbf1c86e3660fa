import { operandsAfter } from "./options.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import { isPlainSed } from "./scripts/plain-sed.ts";
import type { ShellWord } from "./shell-word.ts";

export const sed: ProgramReader = (args) => {
  const scripts: ShellWord[] = [];
  const files: ShellWord[] = [];
  let inPlace = false;
  let unclear = false;
  let onlyFiles = false;
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (onlyFiles || !text.startsWith("-") || text === "-") {
      files.push(word);
      continue;
    }
    const script = /^-[nErsuz]*e(.*)$/s.exec(text) ?? /^--expression(?:=(.*))?$/s.exec(text);
    if (text === "--") onlyFiles = true;
    else if (script !== null) {
      const given = script[1] === undefined || script[1] === "" ? args[++index] : { ...word, text: script[1] };
      if (given !== undefined) scripts.push(given);
    } else if (/^(?:-[nErsuz]*i.*|--in-place.*)$/s.test(text)) inPlace = true;
    else if (!/^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox))$/.test(text))
      unclear = true;
  }
  if (scripts.length === 0) scripts.push(...files.splice(0, 1));
  if (unclear || !scripts.every(({ text, literal }) => literal && isPlainSed(text)))
    return { unknown: "sed's script may write files or start programs.", reads: files, ...(inPlace && { writes: files }) };
  return inPlace ? { writes: files, reads: files } : { readOnly: true, reads: files };
};

// What in a program of awk starts others, writes, or loads more of it.
const AWK_REACHES_OUT = /system|getline|\||>|@|close|ENVIRON|ARGV|-i\b|extension/;

export const awk: ProgramReader = (args, { name }): ProgramFacts => {
  const rest = operandsAfter(args, { values: "Fv", longValues: ["field-separator", "assign"] });
  const [program, ...files] = rest ?? [];
  if (rest === undefined || program === undefined || !program.literal || AWK_REACHES_OUT.test(withoutComparisons(program.text)))
    return { unknown: `What ${name} runs is code that rules don't read.` };
  return { readOnly: true, reads: files.filter(({ text }) => !/^\w+=/.test(text)) };
};

/** `$1 > 5` compares, where nothing is printed; `print > "file"` writes. `||` is no pipe. */
function withoutComparisons(program: string): string {
  const alternatives = program.replaceAll("||", " ");
  return alternatives.includes("print") ? alternatives : alternatives.replace(/>=?\s*[\d$(]/g, " ");
}
