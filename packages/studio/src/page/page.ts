// Draws the page. Whatever a thread says reaches the document as the text of a node or the value of an attribute that
// does nothing: no text is ever parsed as HTML, and no address comes from one.
import { h, render } from "preact";
import { Studio } from "./studio.ts";

render(h(Studio, {}), document.body);
