/** The home of preact: elements, and what they remember. */
export { type ComponentChildren, render } from 'preact';
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
