/** The home of preact: elements, and what they remember. */
export { type ComponentChildren, render } from 'preact';
export { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
