import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";
import type { PdfAnswer, PdfRequest } from "./pdf-text.ts";

// A thread of its own: a damaged or hostile PDF can keep the parser busy, and the thread can be ended.

const MAX_PAGE_CHARACTERS = 100_000;

async function readPdf({ content, first, last }: PdfRequest): Promise<PdfAnswer> {
  let isLocked = false;
  try {
    const pdf = await getDocumentProxy(content, { verbosity: 0, useSystemFonts: false });
    const pages: { number: number; text: string }[] = [];
    for (let number = first; number <= Math.min(last, pdf.numPages); number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
      pages.push({ number, text: text.slice(0, MAX_PAGE_CHARACTERS) });
      page.cleanup();
    }
    return { kind: "pages", count: pdf.numPages, pages };
  } catch (error) {
    isLocked = error instanceof Error && error.name === "PasswordException";
    return { kind: isLocked ? "locked" : "damaged", message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(await readPdf(workerData as PdfRequest));
