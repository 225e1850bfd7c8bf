import { parseSync } from "oxc-parser";

import { isModule, type Source } from "./source.ts";

/** A pattern of prose that most readers must read twice. */
interface Marker {
  readonly name: string;
  readonly pattern: RegExp;
}

/** The patterns that are counted. None has a right use in a comment or on a page. */
const markers: readonly Marker[] = [
  { name: 'a sentence that begins with "What" as a noun', pattern: /(?:^|[.:;!]\s+)What\b(?![^.?!]*\?)/gm },
  { name: '"is no X" for "is not an X"', pattern: /\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z`]/g },
  { name: "whoever", pattern: /\bwhoever\b/gi },
  { name: "anew", pattern: /\banew\b/gi },
  { name: "in words", pattern: /\bin words\b/gi },
  { name: "can't be meant", pattern: /can't be meant/gi },
  { name: "comes to", pattern: /\b(?:comes?|came) to\b/gi },
  { name: "lets go of", pattern: /\blets? go of\b/gi },
  { name: "goes on", pattern: /\b(?:goes|go|went|going) on\b/gi },
];

/** Returns how often each marker is in the comments of modules and in the prose of pages. */
export const markersIn = (sources: readonly Source[]): ReadonlyMap<string, number> => {
  const prose = sources.flatMap(proseOf);
  return new Map(
    markers.map(({ name, pattern }) => [
      name,
      prose.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0),
    ]),
  );
};

/** Returns the comments of a module without their asterisks, or a page without its code blocks. */
const proseOf = (source: Source): readonly string[] => {
  if (source.path.endsWith(".md")) return [source.text.replaceAll(/```[\s\S]*?```/g, "")];
  if (!isModule(source)) return [];
  return parseSync(source.path, source.text).comments.map(({ value }) => value.replaceAll(/^[\s*]+/gm, ""));
};
