export type * from "./blocks/block.ts";
export type * from "./conversation/screen-port.ts";
export type * from "./conversation/shown.ts";
export type * from "./input/key.ts";
export { type Action, actions } from "./input/action.ts";
export {
  type CompletableCommand,
  type Completion,
  completed,
  completionOf,
  layOutCompletion,
} from "./input/completion.ts";
export { type Editor, editorOf, emptyEditor, pasted, typed } from "./input/editor.ts";
export { edited } from "./input/edits.ts";
export { type HistoryPort, historyOf, type InputHistory, remembered, stepped } from "./input/history.ts";
export { type HistorySearch, layOutSearch, pressInSearch, searchOf, type SearchStep } from "./input/history-search.ts";
export { type InputFrame, layOut } from "./input/layout.ts";
export { expanded } from "./input/marked-text.ts";
export { type Keymap, keymapOf, keymaps } from "./input/keymap.ts";
export { KeyReader } from "./input/key-reader.ts";
export type * from "./text/line.ts";
export type * from "./views/view.ts";
export { atView } from "./views/at-view.ts";
export { diffView } from "./views/diff-view.ts";
export { contextLines, explainView } from "./views/explain-view.ts";
export { searchView } from "./views/search-view.ts";
export { threadsView } from "./views/threads-view.ts";
export type { TerminalConversationOptions } from "./conversation/options.ts";
export { terminalConversation } from "./conversation/terminal-conversation.ts";
export { transcriptView } from "./views/transcript-view.ts";
export { treeView } from "./views/tree-view.ts";
export { endingOf } from "./ending.ts";
export { converse, converseOn, type ConverseOptions, type ConverseOutcome } from "./plain/converse.ts";
export { converseOnScreen, type ConverseOnScreenOptions, suitsScreen } from "./converse-on-screen.ts";
export { runScreen } from "./run-screen.ts";
export type * from "./screen/screen-options.ts";
export type * from "./commands/command.ts";
export { commandIn, performCommand, slashCommands } from "./commands/commands.ts";
export { plainTarget, type PlainTargetOptions } from "./plain/plain-target.ts";
export { failureText, reasonOf } from "./text/failure-text.ts";
export { costOf, counted, durationOf, figuresOf, tokensOf } from "./text/figures.ts";
export { noteOf } from "./text/notice.ts";
export { named, oneLine, printable, printableInLine, printableJson, shortened } from "./text/printable.ts";
export type { CodePart, MarkdownBlock } from "./markdown/markdown-block.ts";
export { markdownBlockLines } from "./markdown/markdown-lines.ts";
export { markdownBlocks, markdownLines, MarkdownStream } from "./markdown/markdown-stream.ts";
export type { MarkdownLook } from "./markdown/place.ts";
export { Printer, type Style } from "./text/printer.ts";
export { painted } from "./text/paint.ts";
export { opensLinks, themeNameFor, wantsColour } from "./text/terminal-abilities.ts";
export { type TextStyle, type Theme, themeNamed, themes } from "./text/theme.ts";
export { cutLine, joinedRows, lineWidth, wrapped } from "./text/wrap.ts";
export { graphemesOf, widthOf } from "./text/width.ts";
