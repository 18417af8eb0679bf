//! What programs are told to do, told as sentences.
