/** Makes a small PDF for tests: one page for each list of lines. */
export function makePdf(pages: readonly (readonly string[])[], { isEncrypted = false }: { readonly isEncrypted?: boolean } = {}): Buffer {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  add("<</Type/Catalog/Pages 2 0 R>>");
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  add(`<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`);
  add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
  for (const [index, lines] of pages.entries()) {
    const content = lines.length === 0 ? "q Q" : `BT /F1 12 Tf 10 700 Td ${lines.map((line) => `(${line}) Tj 0 -20 Td`).join(" ")} ET`;
    add(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${5 + index * 2} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`);
    add(`<</Length ${content.length}>>stream\n${content}\nendstream`);
  }
  const encryption = isEncrypted ? add(`<</Filter/Standard/V 1/R 2/O<${"41".repeat(32)}>/U<${"42".repeat(32)}>/P -4>>`) : undefined;
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${body}endobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const lock = encryption === undefined ? "" : `/Encrypt ${encryption} 0 R/ID[<${"43".repeat(16)}><${"43".repeat(16)}>]`;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer<</Root 1 0 R/Size ${objects.length + 1}${lock}>>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(text, "latin1");
}
