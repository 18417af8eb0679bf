//! One value of each type, computed at most once.
//!
//! A pack keeps what its guards share during an event in a type of its own, which this crate cannot name. The type is
//! the key: every pack has its own place, and no lookup can find another pack's value.

use std::any::Any;
use std::sync::OnceLock;

#[derive(Default)]
pub(super) struct TypedCache(OnceLock<Box<CacheEntry>>);

struct CacheEntry {
    value: Box<dyn Any + Send + Sync>,
    rest: TypedCache,
}

impl TypedCache {
    pub(super) fn get_or_insert<T: Any + Send + Sync>(&self, compute: &dyn Fn() -> T) -> &T {
        let new = || Box::new(CacheEntry { value: Box::new(compute()), rest: Self::default() });
        let entry = self.0.get_or_init(new);
        entry.value.downcast_ref().unwrap_or_else(|| entry.rest.get_or_insert(compute))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_value_and_is_computed_once() {
        let cache = TypedCache::default();
        assert_eq!((cache.get_or_insert(&|| 1_u8), cache.get_or_insert(&|| "one")), (&1, &"one"));
        assert_eq!((cache.get_or_insert(&|| 2_u8), cache.get_or_insert(&|| "two")), (&1, &"one"));
    }
}
