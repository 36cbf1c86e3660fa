import { posix } from "node:path";
import { packageOfGuide } from "./package-of-guide.ts";

export interface StagedLinksOptions {
  /** The path of the document in the repository, as in "docs/guides/hooks.md". */
  readonly document: string;
  /** Returns the path in the package of a file of the repository, or `undefined` if the package does not contain it. */
  readonly stagedPath: (path: string) => string | undefined;
  /** The public address of the repository, if it has one. */
  readonly repositoryUrl: string | undefined;
}

/**
 * Returns a document as it is read in an installed package. A link to a file of the package leads there; any other relative link leads into the
 * repository if its address is known, and else becomes its words with the path.
 */
export function stagedLinks(text: string, { document, stagedPath, repositoryUrl }: StagedLinksOptions): string {
  const folder = posix.dirname(stagedPath(document) ?? document);
  return text.replace(/\[([^\]]*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g, (_link, words: string, link: string, anchor = "") => {
    const path = posix.join(posix.dirname(document), link);
    const inPackage = stagedPath(path);
    if (inPackage !== undefined) return `[${words}](${posix.relative(folder, inPackage)}${anchor})`;
    if (repositoryUrl !== undefined) return `[${words}](${repositoryUrl.replace(/\/+$/, "")}/blob/main/${path}${anchor})`;
    const home = packageOfGuide(path);
    const place = home === undefined ? `\`${path}\`` : `\`${path}\` of the package \`${home}\``;
    return words.includes(path) ? words : `${words} (${place})`;
  });
}
