/** The part of `unpdf` that is used. The types of the package are those of all of PDF.js. */
declare module "unpdf" {
  interface TextItem {
    readonly str: string;
    /** True if the line ends after this text. */
    readonly hasEOL: boolean;
  }
  interface Page {
    getTextContent(): Promise<{ readonly items: readonly (TextItem | { readonly type: string })[] }>;
    cleanup(): void;
  }
  interface PdfDocument {
    readonly numPages: number;
    getPage(number: number): Promise<Page>;
  }
  export function getDocumentProxy(
    content: Uint8Array,
    options: { readonly verbosity: number; readonly useSystemFonts: boolean },
  ): Promise<PdfDocument>;
}
