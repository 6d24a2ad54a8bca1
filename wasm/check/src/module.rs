//! Parses the imports and exports of a WebAssembly module.
//!
//! Source: the binary format of the WebAssembly core specification, section 5.5 (modules).

use std::fmt;

/// `\0asm`, then version 1.
const HEADER: &[u8] = b"\0asm\x01\0\0\0";
const IMPORT_SECTION: u8 = 2;
const EXPORT_SECTION: u8 = 7;
/// The kind of an exported function.
const FUNCTION: u8 = 0;

/// The imports and exports of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Module {
    /// The number of imports.
    pub(crate) imports: u32,
    /// The first import, as `module.name`.
    pub(crate) first_import: Option<String>,
    /// The names of the exported functions.
    pub(crate) functions: Vec<String>,
}

/// The error for bytes that are not a module, or are truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoModule {
    what: &'static str,
}

impl fmt::Display for NoModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not a WebAssembly module: {}", self.what)
    }
}

impl std::error::Error for NoModule {}

impl Module {
    /// Parses the import and export sections; all others are skipped.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, NoModule> {
        let mut module = Self::default();
        let mut reader = Reader(bytes);
        if reader.take(HEADER.len())? != HEADER {
            return Err(NoModule { what: "it has another header" });
        }
        while let Some(id) = reader.byte_if_any() {
            let length = reader.length()?;
            let mut section = Reader(reader.take(length)?);
            match id {
                IMPORT_SECTION => {
                    module.imports = section.number()?;
                    if module.imports > 0 {
                        module.first_import = Some(format!("{}.{}", section.name()?, section.name()?));
                    }
                }
                EXPORT_SECTION => {
                    for _ in 0..section.number()? {
                        let (name, kind, _index) = (section.name()?, section.byte()?, section.number()?);
                        if kind == FUNCTION {
                            module.functions.push(name);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(module)
    }
}

/// The unread bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], NoModule> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(NoModule { what: "it is truncated" })?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte_if_any(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn byte(&mut self) -> Result<u8, NoModule> {
        self.byte_if_any().ok_or(NoModule { what: "it is truncated" })
    }

    // LEB128: seven bits per byte, lowest first, in at most five bytes.
    fn number(&mut self) -> Result<u32, NoModule> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(number).map_err(|_| NoModule { what: "a number has more than 32 bits" });
            }
        }
        Err(NoModule { what: "a number has more than five bytes" })
    }

    fn length(&mut self) -> Result<usize, NoModule> {
        usize::try_from(self.number()?).map_err(|_| NoModule { what: "a length exceeds the memory" })
    }

    fn name(&mut self) -> Result<String, NoModule> {
        let length = self.length()?;
        let name = str::from_utf8(self.take(length)?).map_err(|_| NoModule { what: "a name is not UTF-8" })?;
        Ok(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A module of these sections, each with its identifier and content.
    fn module(sections: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        for (id, content) in sections {
            bytes.extend([*id, u8::try_from(content.len()).unwrap()]);
            bytes.extend_from_slice(content);
        }
        bytes
    }

    // A custom section, a type, the import `env.now`, and the exports of a function and a memory.
    const CUSTOM: (u8, &[u8]) = (0, b"\x04nameabc");
    const IMPORT: (u8, &[u8]) = (IMPORT_SECTION, b"\x01\x03env\x03now\0\0");
    const EXPORTS: (u8, &[u8]) = (EXPORT_SECTION, b"\x02\x04play\0\0\x06memory\x02\0");

    #[test]
    fn imports_and_exported_functions_are_found_after_other_sections() {
        let found = Module::parse(&module(&[CUSTOM, IMPORT, EXPORTS])).unwrap();
        assert_eq!(found, Module { imports: 1, first_import: Some("env.now".into()), functions: vec!["play".into()] });
    }

    #[test]
    fn a_module_without_imports_has_no_import_section_or_an_empty_one() {
        for sections in [&[EXPORTS][..], &[(IMPORT_SECTION, &[0]), EXPORTS]] {
            assert_eq!(
                Module::parse(&module(sections)).unwrap(),
                Module { functions: vec!["play".into()], ..Module::default() }
            );
        }
    }

    #[test]
    fn a_module_truncated_within_a_section_is_rejected() {
        let whole = module(&[IMPORT, EXPORTS]);
        let between = [HEADER.len(), HEADER.len() + 2 + IMPORT.1.len(), whole.len()];
        for length in 0..=whole.len() {
            assert_eq!(Module::parse(&whole[..length]).is_ok(), between.contains(&length), "{length} bytes");
        }
    }

    #[test]
    fn other_bytes_are_rejected() {
        for (bytes, what) in [
            (b"\x7fELF\x02\x01\x01\0".to_vec(), "it has another header"),
            (module(&[(IMPORT_SECTION, &[0xFF; 6])]), "a number has more than five bytes"),
            (module(&[(IMPORT_SECTION, b"\xFF\xFF\xFF\xFF\x7F")]), "a number has more than 32 bits"),
            (module(&[(EXPORT_SECTION, b"\xFF\xFF\xFF\xFF\x0F\x01a\0\0")]), "it is truncated"),
            (module(&[(EXPORT_SECTION, b"\x01\x01\xFF\0\0")]), "a name is not UTF-8"),
        ] {
            assert_eq!(Module::parse(&bytes), Err(NoModule { what }));
        }
    }
}
