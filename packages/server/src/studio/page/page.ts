// Draws the page. All content of threads reaches the document as a text node or as an inert attribute value. No text is
// ever parsed as HTML, and no address is made from one but those of links in Markdown.
import { h, render } from "preact";
import { Studio } from "./studio.ts";

render(h(Studio, {}), document.body);
