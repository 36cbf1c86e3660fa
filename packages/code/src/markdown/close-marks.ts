/**
 * Closes the emphasis and the code that are open at the end of a text, so that a word does not change its look when the rest of it
 * arrives. For text that is drawn again only.
 */
export function closeMarks(text: string): string {
  // Marks within fenced code are characters of the code.
  if (/^[ >]*(?:[-+*] +|\d+[.)] +)*(?:```|~~~)/m.test(text)) return text;
  const start = text.lastIndexOf("\n\n") + 1;
  let code = "";
  let isBold = false;
  let opened = 0;
  for (const match of text.slice(start).matchAll(/\\[\s\S]|`+|\*\*/g)) {
    const [mark] = match;
    const end = start + match.index + mark.length;
    if (code !== "") {
      if (mark === code) code = "";
    } else if (mark.startsWith("`")) {
      code = mark;
      opened = end;
    } else if (mark === "**") {
      const isOpening: boolean = !isBold && /\S/.test(text.charAt(end));
      if (isOpening) opened = end;
      isBold = isOpening;
    }
  }
  // A mark without text after it may be no opening at all.
  const shown = text.trimEnd();
  if (shown.length <= opened) return text;
  if (code !== "") return text + code + (isBold ? "**" : "");
  return isBold ? `${shown.replace(/\*$/, "")}**` : text;
}
