/** Every way of not showing a marker, with keys that are honoured and with keys that are ignored. */
import { HIDDEN, showsNoMarkers } from './hidden-markers.ts';

showsNoMarkers('honoured', HIDDEN);
showsNoMarkers('ignored', HIDDEN);
